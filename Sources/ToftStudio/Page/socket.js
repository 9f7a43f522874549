// The one WebSocket to Studio: questions with answers, and events.

export class Failure extends Error {
    constructor(error) {
        super(error.message);
        Object.assign(this, error);
    }
}

const stored = "toft-studio-key";

export class Socket {
    #socket;
    #waiting = new Map();
    #next = 1;
    #isUnread = false;

    /** `listeners` has functions by the names of events, and `lost`. */
    constructor(listeners) {
        this.listeners = listeners;
    }

    /** Connects with the key of the address, which works once, or that of this tab. */
    connect() {
        const first = location.hash.slice(1);
        if (first) history.replaceState(null, "", "/");
        const key = first || sessionStorage.getItem(stored);
        return new Promise((resolve, reject) => {
            if (!key) return reject(new Error("no key"));
            this.#socket = new WebSocket(`ws://${location.host}/socket?key=${encodeURIComponent(key)}`);
            this.#socket.onmessage = ({ data }) => {
                const message = JSON.parse(data);
                if (message.event === "entered") {
                    sessionStorage.setItem(stored, message.key);
                    resolve();
                } else {
                    this.#read(message);
                }
            };
            this.#socket.onclose = () => {
                reject(new Error("refused"));
                for (const { reject } of this.#waiting.values()) reject(new Error("Studio has ended."));
                this.#waiting.clear();
                this.listeners.lost?.();
            };
        });
    }

    /** Asks; `progress` gets the percents of a job. The promise has the number of the job as `job`. */
    ask(name, members = {}, progress) {
        const id = this.#next++;
        const answer = new Promise((resolve, reject) => {
            this.#waiting.set(id, { resolve, reject, progress });
            if (this.#socket.readyState !== WebSocket.OPEN) {
                this.#waiting.delete(id);
                reject(new Error("Studio has ended."));
            } else {
                this.#socket.send(JSON.stringify({ id, do: name, ...members }));
            }
        });
        answer.job = id;
        return answer;
    }

    #read(message) {
        if (message.event === "progress") {
            this.#waiting.get(message.job)?.progress?.(message.percent);
        } else if (message.event) {
            this.listeners[message.event]?.(message);
            this.#confirm();
        } else {
            const waiting = this.#waiting.get(message.id);
            this.#waiting.delete(message.id);
            if (message.error) waiting?.reject(new Failure(message.error));
            else waiting?.resolve(message.ok);
        }
    }

    /** Tells Studio that the events so far are shown, with the next frame: then more may come. */
    #confirm() {
        if (this.#isUnread) return;
        this.#isUnread = true;
        const confirm = () => {
            this.#isUnread = false;
            this.ask("seen").catch(() => {});
        };
        if (document.hidden) setTimeout(confirm, 200);
        else requestAnimationFrame(confirm);
    }
}

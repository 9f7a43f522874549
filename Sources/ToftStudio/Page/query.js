// The box for questions: completion from the schema, the place of an error, history, saved queries.
import { h, button } from "./elements.js";

const words = ["AND", "OR", "NOT", "ANY", "ALL", "NONE", "BETWEEN", "IN", "CONTAINS", "CONTAINS[c]", "BEGINSWITH",
    "BEGINSWITH[c]", "ENDSWITH", "ENDSWITH[c]", "LIKE", "LIKE[c]", "MATCHES", "TRUEPREDICATE", "true", "false", "nil",
    "SUBQUERY"];
const endings = ["SORT(", "DISTINCT(", "LIMIT(", "OFFSET("];
const aggregates = ["@count", "@min", "@max", "@sum", "@avg"];
const mostRemembered = 50;

export class QueryBox {
    #found = [];
    #chosen = -1;
    #word = { start: 0, end: 0 };
    #past = null;

    /** `run(text)` shows the objects of a query; `classOf(name)` is a class by its name. */
    constructor(owner, classOf, store, run) {
        Object.assign(this, { owner, classOf, store, run });
        this.list = h("ul", { id: "completions", role: "listbox", "aria-label": "Completions", hidden: true });
        this.input = h("input", {
            id: "query", type: "text", role: "combobox", spellcheck: "false", autocomplete: "off",
            autocapitalize: "off", "aria-label": "Query", "aria-autocomplete": "list", "aria-expanded": "false",
            "aria-controls": "completions", "aria-describedby": "query-error",
            placeholder: `Which ${owner.name}? e.g. ${example(owner)}`,
            oninput: () => this.#complete(), onkeydown: (event) => this.#key(event),
            onblur: () => setTimeout(() => this.#close(), 150),
        });
        this.error = h("pre", { id: "query-error", role: "alert", hidden: true });
        this.saved = h("select", { "aria-label": "Saved and earlier queries", onchange: () => this.#pick() });
        this.element = h("form", {
            class: "query", role: "search",
            onsubmit: (event) => { event.preventDefault(); this.submit(); },
        }, h("div", { class: "query-line" }, h("div", { class: "combo" }, this.input, this.list), this.saved,
            button("☆", () => this.#save(), { title: "Save this query", "aria-label": "Save this query" }),
            h("button", { type: "submit", class: "main" }, "Show")), this.error);
        this.#fillSaved();
    }

    /** Runs the text, and shows where it is wrong. */
    async submit() {
        this.#close();
        const text = this.input.value.trim();
        try {
            await this.run(text);
            this.fail(null);
            if (text) this.#remember("earlier", text);
        } catch (error) {
            this.fail(error);
        }
    }

    /** Shows an error of a query at its place; null shows none. */
    fail(error) {
        this.error.hidden = !error;
        this.input.setAttribute("aria-invalid", String(Boolean(error)));
        if (!error) return;
        this.error.textContent = error.detail ? `${error.message}\n${error.detail}` : error.message;
        if (error.code === "querySyntax" || error.code === "invalidQuery" || error.code === "queryTypeMismatch") {
            const place = utf16(this.input.value, error.number);
            this.error.dataset.place = String(place);
            this.input.focus();
            this.input.setSelectionRange(place, place);
        }
    }

    // History

    #entries(kind) { return this.store.get(`${kind}:${this.owner.name}`) ?? []; }

    #remember(kind, text) {
        const entries = [text, ...this.#entries(kind).filter((entry) => entry !== text)];
        this.store.set(`${kind}:${this.owner.name}`, entries.slice(0, mostRemembered));
        this.#past = null;
        this.#fillSaved();
    }

    #save() {
        const text = this.input.value.trim(), saved = this.#entries("saved");
        if (!text) return;
        if (saved.includes(text)) this.store.set(`saved:${this.owner.name}`, saved.filter((each) => each !== text));
        else this.#remember("saved", text);
        this.#fillSaved();
    }

    #fillSaved() {
        const group = (label, entries) => entries.length
            ? h("optgroup", { label }, entries.map((entry) => h("option", { value: entry }, entry))) : null;
        this.saved.replaceChildren(...[h("option", { value: "" }, "History"), group("Saved", this.#entries("saved")),
            group("Earlier", this.#entries("earlier"))].filter(Boolean));
        this.saved.value = "";
    }

    #pick() {
        if (!this.saved.value) return;
        this.input.value = this.saved.value;
        this.saved.value = "";
        this.submit();
    }

    #recall(step) {
        const entries = this.#entries("earlier");
        const next = (this.#past ?? -1) + step;
        if (next < -1 || next >= entries.length) return;
        this.#past = next;
        this.input.value = next < 0 ? "" : entries[next];
    }

    // Completion

    #complete() {
        if (!this.error.hidden) this.fail(null);
        const text = this.input.value, caret = this.input.selectionStart;
        const before = text.slice(0, caret);
        const isInText = (before.match(/'/g) ?? []).length % 2 === 1;
        const path = isInText ? "" : before.match(/[@\p{L}_](?:[\p{L}\d_.@$[\]-]|\\ )*$/u)?.[0] ?? "";
        if (!path) return this.#close();
        const steps = path.split("."), last = steps.pop();
        let owner = this.owner, property = null;
        for (const step of steps) {
            property = owner?.properties.find(({ name }) => written(name) === step);
            owner = property?.target ? this.classOf(property.target) : null;
        }
        const isMany = property && (property.collection || property.type === "inverse link");
        const names = [...(owner?.properties ?? []).map(({ name }) => written(name)), ...(steps.length && isMany ? aggregates : [])];
        const candidates = steps.length ? names : [...names, ...words, ...endings];
        const lower = last.toLowerCase();
        this.#found = candidates.filter((each) => each.toLowerCase().startsWith(lower) && each !== last).slice(0, 12);
        this.#word = { start: caret - last.length, end: caret };
        this.#chosen = -1;
        this.#showFound();
    }

    #showFound() {
        this.list.hidden = this.#found.length === 0;
        this.input.setAttribute("aria-expanded", String(!this.list.hidden));
        this.list.replaceChildren(...this.#found.map((text, index) => h("li", {
            role: "option", id: `completion-${index}`, "aria-selected": String(index === this.#chosen),
            onpointerdown: (event) => { event.preventDefault(); this.#take(index); },
        }, text)));
        if (this.#chosen >= 0) this.input.setAttribute("aria-activedescendant", `completion-${this.#chosen}`);
        else this.input.removeAttribute("aria-activedescendant");
    }

    #close() { this.#found = []; this.#showFound(); }

    #take(index) {
        const { value } = this.input, { start, end } = this.#word, text = this.#found[index];
        const tail = text.endsWith("(") || value[end] === " " ? "" : " ";
        this.input.value = value.slice(0, start) + text + tail + value.slice(end);
        const caret = start + text.length + tail.length;
        this.input.setSelectionRange(caret, caret);
        this.#close();
    }

    #key(event) {
        const isOpen = this.#found.length > 0;
        const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
        if (isOpen && step) {
            event.preventDefault();
            this.#chosen = (this.#chosen + step + this.#found.length + (this.#chosen < 0 && step < 0 ? 1 : 0)) % this.#found.length;
            this.#showFound();
        } else if (isOpen && (event.key === "Tab" || event.key === "Enter" && this.#chosen >= 0)) {
            event.preventDefault();
            this.#take(Math.max(0, this.#chosen));
        } else if (isOpen && event.key === "Escape") {
            event.stopPropagation();
            this.#close();
        } else if (step) {
            event.preventDefault();
            this.#recall(-step);
        }
    }
}

/** A name as queries spell it. */
function written(name) { return name.replaceAll(" ", "\\ "); }

function example(owner) {
    const property = owner.properties.find(({ type, collection }) => !collection && ["int", "double", "string"].includes(type));
    if (!property) return "TRUEPREDICATE LIMIT(10)";
    const name = written(property.name);
    return property.type === "string" ? `${name} CONTAINS[c] 'a'` : `${name} > 10`;
}

/** The index in UTF-16 of an offset in UTF-8. */
function utf16(text, offset) {
    let bytes = 0, index = 0;
    for (const character of text) {
        if (bytes >= offset) break;
        bytes += new TextEncoder().encode(character).length;
        index += character.length;
    }
    return index;
}

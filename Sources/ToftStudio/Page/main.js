// Toft Studio: the state of the page, and what its parts have in common.
import { h, button, dialog, say, many, number } from "./elements.js";
import { Socket } from "./socket.js";
import { Table } from "./table.js";
import { QueryBox } from "./query.js";
import { Details, askValue, field } from "./details.js";
import { Draft, review } from "./draft.js";
import { schemaPicture } from "./schema.js";
import { FilePanel, statisticsView, planView } from "./panels.js";
import { parsed, plain } from "./values.js";

const keys = [["/", "the query"], ["c", "the classes"], ["t", "the table"], ["Arrows, Page, Home, End", "move; with Ctrl to the ends"],
    ["Enter", "open the object"], ["o", "follow the link"], ["F2", "edit the value"], ["s", "sort by the column; with Shift also"],
    ["a", "statistics of the column"], ["< >", "make the column narrower or wider"], ["e", "editing on and off"],
    ["Del", "delete the object, in the draft"], ["d", "the draft"], ["g", "the schema as a graph"], ["i", "the file"],
    ["Esc", "close what is open"], ["Alt ←", "back"], ["?", "these keys"]];

/** What the browser keeps for a file. */
class Store {
    constructor(path) { this.path = path; }
    get(name) {
        try { return JSON.parse(localStorage.getItem(`toft:${this.path}:${name}`)); } catch { return null; }
    }
    set(name, value) {
        try { localStorage.setItem(`toft:${this.path}:${name}`, JSON.stringify(value)); } catch { /* It is kept nowhere then. */ }
    }
}

/** One database: its classes, its draft, and what is shown of it. */
class OpenFile {
    classes = null;
    isEditing = false;
    current = null;
    constructor(index, { name, path, folder }) {
        Object.assign(this, { index, name, path, folder: folder ?? "" });
        this.store = new Store(path || name);
        this.draft = new Draft(() => app.draftChanged(this));
    }
}

class App {
    files = [];
    #nextView = 1;
    #table = null;
    #query = null;
    #details = null;
    #panel = null;
    #shownColumn = null;

    constructor() {
        this.socket = new Socket({
            changed: (event) => this.#changed(event),
            committed: (event) => this.#committed(event),
            failed: ({ error }) => say(error.message, true),
            lost: () => this.#lost(),
        });
    }

    get file() { return this.shownFile; }
    get draft() { return this.file.draft; }
    get isEditing() { return this.file.isEditing; }
    get classes() { return this.file.classes ?? []; }
    get current() { return this.file.current; }

    ask(name, members, progress) { return this.socket.ask(name, { file: this.file.index, ...members }, progress); }
    classOf(name) { return this.classes.find((owner) => owner.name === name); }

    async start() {
        try {
            await this.socket.connect();
        } catch {
            main.replaceChildren(h("div", { class: "empty" }, h("h1", {}, "Toft Studio"),
                h("p", {}, "This address does not open Studio: each works once, in the tab that opened it."),
                h("p", {}, "Start ", h("code", {}, "toftdb studio FILE"), " again, and open the address that it prints.")));
            document.documentElement.dataset.state = "refused";
            return;
        }
        this.files = (await this.socket.ask("files")).map((file, index) => new OpenFile(index, file));
        addEventListener("popstate", ({ state }) => { if (state) this.#restore(state); });
        addEventListener("keydown", (event) => this.#key(event));
        addEventListener("mouseover", ({ target }) => this.#hover(target.closest?.("a.link")));
        addEventListener("beforeunload", (event) => { if (this.files.some(({ draft }) => draft.count)) event.preventDefault(); });
        await this.showFile(this.files[0], history.state);
        document.documentElement.dataset.state = "ready";
    }

    #lost() {
        if (!this.files.length) return;
        document.documentElement.dataset.state = "lost";
        say("Studio has ended, or this machine slept too long. Reload the page to try again.", true);
    }

    // Files

    async showFile(file, state) {
        this.shownFile = file;
        this.#drawTop();
        if (!file.classes && !await this.#open(file)) return;
        this.#drawSide();
        if (state?.file === file.index && (state.place !== "class" || this.classOf(state.name))) return this.#restore(state);
        const first = file.current?.owner ?? this.classes.find((owner) => !owner.isEmbedded && owner.count > 0) ?? this.classes[0];
        if (!first) {
            main.replaceChildren(h("div", { class: "empty" }, h("p", {}, "This file has no classes yet.")));
            return;
        }
        await this.showClass(first.name);
    }

    async #open(file, key) {
        try {
            const opened = await this.ask("open", key ? { key } : {});
            file.classes = opened.classes;
            file.version = opened.version;
            file.isReadOnly = opened.isReadOnly;
            this.#drawTop();
            return true;
        } catch (error) {
            this.#drawSide();
            this.#explainFailure(file, error);
            return false;
        }
    }

    /** A file that does not open: its key is asked for, or what to do is said. */
    #explainFailure(file, error) {
        const needsKey = error.code === "keyRequired" || error.code === "wrongKey";
        const digits = h("input", { type: "password", "aria-label": "Key", autocomplete: "off", placeholder: "128 hexadecimal digits", id: "key" });
        const upload = h("input", { type: "file", "aria-label": "A file with the 64 bytes" });
        const form = h("form", {
            class: "key", onsubmit: async (event) => {
                event.preventDefault();
                let key = digits.value.replace(/\s/g, "");
                if (upload.files.length) {
                    key = [...new Uint8Array(await upload.files[0].slice(0, 65).arrayBuffer())]
                        .map((byte) => byte.toString(16).padStart(2, "0")).join("");
                }
                if (await this.#open(file, key)) this.showFile(file);
            },
        }, h("label", {}, "Its key ", digits), h("label", {}, "or a file with it ", upload), h("button", { type: "submit", class: "main" }, "Open"));
        const panel = new FilePanel(this);
        main.replaceChildren(h("div", { class: "empty" }, h("h1", {}, file.name), h("p", { class: "bad", role: "alert" }, error.message),
            needsKey ? form : panel.element));
        if (needsKey) digits.focus();
    }

    // Places

    #visit(state) {
        const whole = { file: this.file.index, ...state };
        const isSame = JSON.stringify(history.state) === JSON.stringify(whole);
        if (isSame) return;
        if (history.state) history.pushState(whole, "", "/");
        else history.replaceState(whole, "", "/");
    }

    async #restore(state) {
        const file = this.files[state.file];
        if (!file) return;
        if (file !== this.file || !file.classes) {
            this.shownFile = file;
            this.#drawTop();
            if (!file.classes && !await this.#open(file)) return;
            this.#drawSide();
        }
        if (state.place === "schema") this.showSchema();
        else if (state.place === "file") this.showFilePanel();
        else if (this.classOf(state.name)) await this.showClass(state.name, state);
    }

    /** Shows the objects of a class, or of one property of one object. */
    async showClass(name, { query = "", sort = [], of = null, key = null } = {}) {
        const owner = this.classOf(of ? this.#targetOf(of) : name);
        if (!owner) return;
        this.#leave();
        this.#visit({ place: "class", name: owner.name, query, sort, of, key });
        const view = this.#nextView++;
        this.file.current = { owner, view, query, sort, of, count: 0 };
        const widths = this.file.store.get(`widths:${owner.name}`) ?? {};
        this.#table = new Table(owner.properties, (from, count) => this.ask("rows", { view, from, count }).then(({ rows }) => rows), {
            sort: (property, isAlso) => this.#sort(property, isAlso),
            open: (row, column, isAsked) => this.openRow(row, isAsked),
            edit: (row, column) => this.#edit(row, column),
            remove: (row) => this.#remove(row),
            go: (className, target) => this.go(className, target),
            menu: (property) => this.showStatistics(property),
            pending: (target, property) => this.draft.pending(owner.name, target, property),
            isDeleted: (target) => this.draft.isDeleted(owner.name, target),
            active: () => this.#drawFoot(),
            resized: (property, width) => {
                widths[property.name] = width;
                this.file.store.set(`widths:${owner.name}`, widths);
            },
        }, widths);
        this.#query = new QueryBox(owner, (each) => this.classOf(each), this.file.store, (text) => this.#ask(text));
        this.#query.input.value = query;
        const title = of ? h("h1", {}, h("button", { type: "button", class: "crumb", onclick: () => this.go(of.class, of.key) }, `${of.class} ${of.label ?? of.key}`), ` · ${of.property}`)
            : h("h1", {}, owner.name, owner.isEmbedded ? h("span", { class: "kind" }, " embedded") : null);
        this.count = h("span", { class: "count", id: "count" });
        this.foot = h("div", { class: "foot" });
        main.replaceChildren(h("div", { class: "title" }, title, this.count, h("span", { class: "grow" }),
            owner.isEmbedded ? null : button("New…", () => this.#create(owner), { class: "only-editing" }),
            button("Columns", () => this.#chooseColumns(owner)), button("Plan", () => this.showPlan())),
        this.#query.element, this.#table.element, this.foot);
        this.#table.hide(new Set(this.file.store.get(`hidden:${owner.name}`) ?? []));
        this.#drawSide();
        try {
            await this.#view();
        } catch (error) {
            this.#query.fail(error);
        }
        if (key != null) await this.#showKey(key);
    }

    #targetOf(of) {
        return this.classOf(of.class)?.properties.find(({ name }) => name === of.property)?.target;
    }

    /** Asks for the present view anew. */
    async #view() {
        const { current } = this;
        const { owner, view, query, sort, of } = current;
        const answer = await this.ask("view", {
            view, class: owner.name, query: query || null, sort, of: of && { class: of.class, key: of.key, property: of.property },
        });
        current.count = answer.count;
        this.#table.sorted(sort);
        this.#table.reset(answer.count);
        this.#drawCount();
        this.#drawFoot();
    }

    async #ask(text) {
        const { current } = this, { query, sort } = current;
        current.query = text;
        // A SORT of the query itself takes the place of the headers'.
        if (/\bsort\s*\(/i.test(text)) current.sort = [];
        try {
            await this.#view();
        } catch (error) {
            Object.assign(current, { query, sort });
            throw error;
        }
        this.#visit({ place: "class", name: current.owner.name, query: text, sort: current.sort, of: current.of, key: null });
        say(`${many(current.count, "object")} found.`);
    }

    async #sort(property, isAlso) {
        const { current } = this;
        const known = current.sort.find(({ by }) => by === property.name);
        const next = !known ? { by: property.name, descending: false } : known.descending ? null : { ...known, descending: true };
        const others = isAlso ? current.sort.filter((key) => key !== known) : [];
        const before = current.sort;
        current.sort = [...others, ...(next ? [next] : [])];
        try {
            await this.#view();
            this.#visit({ place: "class", name: current.owner.name, query: current.query, sort: current.sort, of: current.of, key: null });
        } catch (error) {
            current.sort = before;
            say(error.message, true);
        }
    }

    /** Goes to an object: its class without a query, its row, its details. */
    async go(className, key) {
        const owner = this.classOf(className);
        if (!owner) return say(`No class '${className}' is shown.`, true);
        await this.showClass(className, { key });
    }

    async #showKey(key) {
        const { current } = this;
        const index = await this.ask("locate", { view: current.view, key }).catch(() => null);
        if (index == null) return say(`The object ${key} is not among those shown.`, true);
        this.#table.show(index);
        this.openObject(current.owner, key);
        this.#table.element.focus({ preventScroll: true });
    }

    /** Shows what a link leads to while the pointer rests on it. */
    #hover(link) {
        if (link === this.hovered) return;
        this.hovered = link;
        document.querySelector(".card")?.remove();
        clearTimeout(this.hoverTimer);
        if (!link) return;
        this.hoverTimer = setTimeout(async () => {
            const owner = this.classOf(link.dataset.class), key = Number(link.dataset.key);
            const object = owner && await this.ask("object", { class: owner.name, key }).catch(() => null);
            if (!object || this.hovered !== link) return;
            const { left, bottom } = link.getBoundingClientRect();
            const card = h("div", { class: "card", role: "tooltip" }, h("strong", {}, `${owner.name} ${object.label}`),
                owner.properties.slice(0, 6).map((property, index) => h("div", {}, h("span", { class: "dim" }, property.name),
                    h("span", {}, plain(object.cells[index], property)))));
            document.body.append(card);
            card.style.left = `${Math.min(left, innerWidth - card.offsetWidth - 8)}px`;
            card.style.top = `${Math.min(bottom + 4, innerHeight - card.offsetHeight - 8)}px`;
        }, 350);
    }

    showOf(owner, key, property) {
        return this.showClass(null, { of: { class: owner.name, key, property: property.name } });
    }

    showSchema() {
        this.#leave(true);
        this.#visit({ place: "schema" });
        main.replaceChildren(h("div", { class: "title" }, h("h1", {}, "Schema"),
            h("span", { class: "count" }, many(this.classes.length, "class", "classes"))),
        schemaPicture(this.classes, (name) => this.showClass(name)),
        h("p", { class: "foot" }, "◆ primary key   ≡ indexed   [] list   {} set   {:} dictionary   ? optional   ← inverse link   dashed: owns its objects"));
        this.#drawSide("schema");
    }

    showFilePanel() {
        const { current } = this;
        this.#leave(true);
        this.#visit({ place: "file" });
        this.file.current = current;
        this.#panel = new FilePanel(this);
        main.replaceChildren(this.#panel.element);
        this.#panel.refresh();
        this.#drawSide("file");
    }

    #leave(keepsView = false) {
        this.#hover(null);
        this.#table?.stop();
        if (this.current && !keepsView) this.socket.ask("forget", { view: this.current.view }).catch(() => {});
        this.#table = this.#query = this.#panel = null;
        this.closePane();
    }

    // The pane

    #fillPane(title, ...content) {
        pane.hidden = false;
        document.body.classList.add("has-pane");
        pane.replaceChildren(h("div", { class: "pane-head" }, h("span", {}, title), button("✕", () => this.closePane(true), { class: "icon", "aria-label": "Close the details" })), ...content);
        this.#table?.paint();
    }

    closePane(focuses = false) {
        pane.hidden = true;
        document.body.classList.remove("has-pane");
        pane.replaceChildren();
        this.#details = null;
        this.#shownColumn = null;
        if (focuses) this.#table?.element.focus();
    }

    openRow(row, isAsked) {
        const key = this.#table.at(row)?.[0];
        // A click shows the object where there is room for it beside the table.
        if (key == null || !isAsked && (pane.hidden && innerWidth < 900)) return;
        this.openObject(this.current.owner, key);
        if (isAsked) pane.querySelector("button")?.focus();
    }

    async openObject(owner, key) {
        if (!this.#details) {
            this.#details = new Details(this);
            this.#fillPane("Object", this.#details.element);
        }
        this.#shownColumn = null;
        await this.#details.show(owner, key);
    }

    async showStatistics(property) {
        this.#details = null;
        const box = h("div", {}, h("p", { class: "dim" }, "The engine is counting…"));
        this.#fillPane("Column", box);
        this.#shownColumn = property;
        try {
            const found = await this.ask("statistics", { view: this.current.view, property: property.name });
            box.replaceChildren(statisticsView(property, found));
            box.dataset.state = "done";
        } catch (error) {
            box.replaceChildren(h("p", { class: "bad" }, error.message));
        }
    }

    async showPlan() {
        this.#details = null;
        const box = h("div", {});
        this.#fillPane("Plan", box);
        try {
            box.replaceChildren(planView(await this.ask("explain", { view: this.current.view })));
        } catch (error) {
            box.replaceChildren(h("p", { class: "bad" }, error.message));
        }
    }

    async #chooseColumns(owner) {
        const hidden = new Set(this.file.store.get(`hidden:${owner.name}`) ?? []);
        const boxes = owner.properties.map(({ name }) => [name, h("input", { type: "checkbox", checked: !hidden.has(name) })]);
        const done = await dialog("Columns", h("div", { class: "checks" }, boxes.map(([name, box]) => h("label", { class: "check" }, box, name))),
            [["Show", () => true, { class: "main" }]]);
        if (!done) return;
        const names = boxes.filter(([, box]) => !box.checked).map(([name]) => name);
        this.file.store.set(`hidden:${owner.name}`, names);
        this.#table.hide(new Set(names));
    }

    // Changes

    #changed(event) {
        const { current } = this;
        if (!current || event.view !== current.view || !this.#table) return;
        if (event.error) return say(event.error.message, true);
        if (event.isGone) return say("The object that these belong to has been deleted.", true);
        current.count = event.count;
        this.#table.change(event);
        this.#drawCount();
        const size = (runs) => runs.reduce((sum, [from, to]) => sum + to - from, 0);
        const words = [[event.insertions, "came"], [event.deletions, "left"], [event.modifications, "changed"]]
            .filter(([runs]) => runs.length).map(([runs, verb]) => `${number.format(size(runs))} ${verb}`);
        if (words.length) say(`Version ${event.version}: ${words.join(", ")}.`);
        this.#pulse();
    }

    async #committed(event) {
        const file = this.files[event.file];
        if (!file?.classes) return;
        file.version = event.version;
        const names = Object.keys(event.counts ?? {});
        if (names.length !== file.classes.length || names.some((name) => !file.classes.some((owner) => owner.name === name))) {
            file.classes = await this.socket.ask("classes", { file: file.index }).catch(() => file.classes);
        }
        for (const owner of file.classes) owner.count = event.counts?.[owner.name] ?? owner.count;
        if (file !== this.file) return;
        this.#drawSide(this.shownPlace, true);
        this.#drawFoot();
        if (!this.#details?.isBusy) this.#details?.again();
        this.#panel?.refresh();
    }

    /** Shows in the corner that something has come. */
    #pulse() {
        const mark = document.getElementById("live");
        mark?.classList.remove("pulse");
        requestAnimationFrame(() => mark?.classList.add("pulse"));
    }

    // Editing

    draftChanged(file) {
        if (file !== this.file) return;
        this.#drawTop();
        this.#table?.redraw();
    }

    toggleEditing() {
        if (this.file.isReadOnly) return say("The file is open for reading only.", true);
        this.file.isEditing = !this.file.isEditing;
        this.#drawTop();
        this.#details?.again();
        say(this.file.isEditing ? "Editing: changes are gathered in a draft." : "Editing is off.");
    }

    async #edit(row, column) {
        const cells = this.#table.at(row), property = this.#table.columns[column], { owner } = this.current;
        if (!cells) return;
        if (!this.isEditing) return say("Editing is off: switch it on with e.", true);
        const key = cells[0], was = cells[column + 1];
        const drafted = this.draft.pending(owner.name, key, property);
        const cell = drafted === undefined ? was : drafted;
        if (property.isPrimaryKey) return say("The primary key of an object never changes.", true);
        if (property.collection || property.ownsTargets || property.type === "inverse link") return this.openRow(row, true);
        if (["link", "mixed", "data"].includes(property.type) || typeof cell === "object" && cell) {
            const given = await this.askValue(property, cell);
            if (given) this.draft.set(owner, key, property, given.value, was, given.cell);
            this.#table.element.focus();
            return;
        }
        this.#editInPlace(owner, key, property, cell, was);
    }

    #editInPlace(owner, key, property, cell, was) {
        const place = document.getElementById("active-cell"), grid = this.#table.element;
        if (!place) return;
        let isDone = false;
        const finish = (keep) => {
            if (isDone) return;
            let value = cell;
            try {
                if (keep) value = parsed(input.value, property);
            } catch (error) {
                input.setAttribute("aria-invalid", "true");
                say(`${property.name} takes ${error.message}.`, true);
                return;
            }
            isDone = true;
            if (value !== cell) this.draft.set(owner, key, property, value, was, value);
            this.#table?.redraw();
            grid.focus();
        };
        const input = h("input", {
            type: "text", class: "inplace", value: cell == null ? "" : String(cell), "aria-label": property.name, spellcheck: "false",
            onkeydown: (event) => {
                event.stopPropagation();
                if (event.key === "Enter") finish(true);
                if (event.key === "Escape") finish(false);
            },
            onblur: () => finish(input.getAttribute("aria-invalid") !== "true"),
        });
        place.replaceChildren(input);
        input.focus();
        input.select();
    }

    askValue(property, cell) {
        return askValue(property, cell, (className, text) => this.ask("find", { class: className, text }));
    }

    #remove(row) {
        const key = this.#table.at(row)?.[0];
        if (key == null) return;
        if (!this.isEditing) return say("Editing is off: switch it on with e.", true);
        const { owner } = this.current;
        if (owner.isEmbedded) return say("An embedded object is deleted in the one that has it.", true);
        this.draft.remove(owner, key, String(key));
        say("The draft deletes it.");
    }

    async #valuesOf(owner, title, isNeeded) {
        const values = {};
        const fields = owner.properties.filter(isNeeded).map((property) => h("div", { class: "value" },
            h("label", {}, property.name, h("span", { class: "type" }, property.typeName)),
            field(property, null, (value) => { values[property.name] = value; })));
        const done = await dialog(title, h("div", {}, fields.length ? fields : h("p", {}, "It needs no values.")), [["Add to the draft", () => true, { class: "main" }]]);
        return done && values;
    }

    async #create(owner) {
        if (!this.isEditing) return say("Editing is off: switch it on with e.", true);
        const values = await this.#valuesOf(owner, `New ${owner.name}`, (property) =>
            !property.collection && !property.isAutoIncremented && !["link", "inverse link", "mixed", "data"].includes(property.type));
        if (values) this.draft.create(owner, values, Object.values(values).slice(0, 3).join(", "));
    }

    async duplicate(owner, key, object) {
        const unique = new Set([...owner.uniques.flat(), ...owner.properties.filter((each) => each.isPrimaryKey && !each.isAutoIncremented).map(({ name }) => name)]);
        const values = unique.size ? await this.#valuesOf(owner, `Copy of ${object.label}`, ({ name }) => unique.has(name)) : {};
        if (values) this.draft.copy(owner, key, values, object.label);
    }

    async showDraft() {
        await review(this.draft, (changes) => this.ask("commit", { changes }));
        this.#details?.again();
        this.#table?.element.focus();
    }

    // Drawing

    #drawTop() {
        const { file } = this, count = file.draft.count;
        document.body.classList.toggle("editing", file.isEditing);
        top.replaceChildren(
            button("☰", () => document.body.classList.toggle("has-side"), { class: "icon menu", "aria-label": "Classes", "aria-controls": "side" }),
            h("img", { src: "/icon.svg", alt: "Toft Studio", width: 24, height: 24 }),
            h("div", { class: "tabs", role: "tablist", "aria-label": "Files" }, this.files.map((each) => h("button", {
                type: "button", role: "tab", "aria-selected": String(each === file), title: each.path, onclick: () => this.showFile(each),
            }, each.name, each.draft.count ? " •" : ""))),
            h("span", { class: "grow" }),
            button(file.isEditing ? "Editing" : file.isReadOnly ? "Read only" : "Locked", () => this.toggleEditing(), {
                class: "toggle", id: "editing", "aria-pressed": String(file.isEditing), title: "Editing on and off (e)" }),
            button(count ? `Draft ${count}` : "Draft", () => this.showDraft(), { id: "draft", class: count ? "main" : "", disabled: count === 0 }),
            button("?", () => this.#help(), { class: "icon", "aria-label": "Keys" }));
        document.title = `${file.name} · Toft Studio`;
    }

    #drawSide(place = "class", keeps = false) {
        this.shownPlace = place;
        const name = place === "class" ? this.current?.owner.name : null;
        if (keeps && side.dataset.names === this.classes.map((owner) => owner.name).join("\n")) {
            for (const item of side.querySelectorAll("[data-name]")) {
                item.querySelector(".count").textContent = number.format(this.classOf(item.dataset.name).count);
            }
            return;
        }
        side.dataset.names = this.classes.map((owner) => owner.name).join("\n");
        const item = (owner) => h("li", {}, h("button", {
            type: "button", "aria-current": owner.name === name ? "page" : null, data: { name: owner.name },
            onclick: () => { document.body.classList.remove("has-side"); this.showClass(owner.name); },
        }, h("span", { class: "name" }, owner.name), h("span", { class: "count" }, number.format(owner.count))));
        const whole = this.classes.filter((owner) => !owner.isEmbedded), inside = this.classes.filter((owner) => owner.isEmbedded);
        const place2 = (text, key, show) => h("li", {}, h("button", {
            type: "button", "aria-current": place === key ? "page" : null,
            onclick: () => { document.body.classList.remove("has-side"); show(); } }, text));
        side.replaceChildren(h("h2", {}, "Classes"), h("ul", { onkeydown: sideKeys }, whole.map(item)),
            ...inside.length ? [h("h2", {}, "Embedded"), h("ul", { onkeydown: sideKeys }, inside.map(item))] : [],
            h("ul", { class: "places" }, place2("Schema", "schema", () => this.showSchema()), place2("File", "file", () => this.showFilePanel())));
    }

    #drawCount() { this.count.textContent = many(this.current.count, "object"); this.count.dataset.count = String(this.current.count); }

    #drawFoot() {
        if (!this.foot || !this.#table) return;
        const { row, column, columns } = this.#table;
        this.foot.replaceChildren(
            h("span", { id: "live", title: "Changes of all programs are shown as they are committed" }, "live"),
            h("span", { id: "version" }, `version ${number.format(this.file.version)}`),
            this.current.count ? h("span", { id: "place" }, `row ${number.format(row + 1)} of ${number.format(this.current.count)}`) : "",
            this.current.count && columns[column] ? h("span", { class: "dim" }, `${columns[column].name}: ${columns[column].typeName}`) : "");
    }

    #help() {
        dialog("Keys", h("dl", { class: "keys" }, keys.map(([key, text]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, text)]).flat()));
    }

    #key(event) {
        const target = event.target;
        if (event.key === "Escape" && !document.querySelector("dialog[open]")) {
            if (document.body.classList.contains("has-side")) document.body.classList.remove("has-side");
            else if (!pane.hidden) this.closePane(true);
            else if (target.id === "query") this.#table?.element.focus();
            return;
        }
        if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
        if (/^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) return;
        const actions = {
            "/": () => this.#query?.input.focus(),
            c: () => {
                document.body.classList.add("has-side");
                const shown = CSS.escape(this.current?.owner.name ?? "");
                (side.querySelector(`[data-name="${shown}"]`) ?? side.querySelector("button"))?.focus();
            },
            t: () => this.#table?.element.focus(),
            e: () => this.toggleEditing(),
            d: () => { if (this.draft.count) this.showDraft(); },
            g: () => this.showSchema(),
            i: () => this.showFilePanel(),
            "?": () => this.#help(),
        };
        if (!actions[event.key]) return;
        event.preventDefault();
        actions[event.key]();
    }
}

/** The arrow keys go through the classes. */
function sideKeys(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const buttons = [...side.querySelectorAll("button")], next = buttons.indexOf(document.activeElement) + step;
    buttons[Math.max(0, Math.min(next, buttons.length - 1))]?.focus();
}

const [top, side, main, pane] = ["top", "side", "main", "pane"].map((id) => document.getElementById(id));
const app = new App();
app.start();

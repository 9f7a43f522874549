// One object with all its values, in the pane at the right.
import { h, button, dialog, bytes, number, say } from "./elements.js";
import { element, editable, parsed, typeText, localDate, link, mixedTypes, plain } from "./values.js";

const imageTypes = [["89504e47", "image/png"], ["ffd8ff", "image/jpeg"], ["47494638", "image/gif"], ["52494646", "image/webp"]];
const mostImageBytes = 4_000_000;

/** `app` has `ask(name, members)` for the present file, `classOf`, `draft`, `isEditing`, `go`. */
export class Details {
    constructor(app) {
        this.app = app;
        this.element = h("div", { class: "details" });
    }

    /** Shows an object; resolves when it is there. If it was there before, the focus stays where it is. */
    async show(owner, key) {
        if (this.key !== key || this.owner !== owner) this.kept = null;
        this.owner = owner;
        this.key = key;
        try {
            const object = await this.app.ask("object", { class: owner.name, key });
            if (this.key !== key || this.owner !== owner) return;
            const { draft } = this.app;
            if (this.element.childElementCount) this.#keep();
            this.element.replaceChildren(h("div", {},
                h("h2", {}, object.label || `#${key}`),
                h("p", { class: "dim" }, `${owner.name}, key ${key}`),
                draft.isDeleted(owner.name, key) ? h("p", { class: "bad" }, "The draft deletes this object.") : null,
                this.#properties(owner, key, object.cells),
                this.app.isEditing && !owner.isEmbedded ? h("div", { class: "actions" },
                    button("Duplicate…", () => this.app.duplicate(owner, key, object)),
                    button("Delete", () => { draft.remove(owner, key, object.label); this.again(); }, { class: "danger" })) : null));
            this.#restore();
        } catch (error) {
            this.element.replaceChildren(h("p", { class: "bad" }, error.message));
        }
    }

    /** Notes the focus and the scroll position before the values are drawn anew. */
    #keep() {
        const focused = document.activeElement, { scrollTop } = this.element.parentElement ?? {};
        this.kept = { scrollTop };
        if (!this.element.contains(focused)) return;
        const path = [];
        for (let at = focused.closest("[data-property]"); at; at = at.parentElement.closest("[data-property]")) {
            path.unshift(`[data-property="${CSS.escape(at.dataset.property)}"]`);
        }
        const selector = `${path.join(" ")} ${focused.tagName.toLowerCase()}`;
        this.kept.focus = { selector, index: [...this.element.querySelectorAll(selector)].indexOf(focused) };
    }

    /** Goes back there; what is inside of the object may come later. */
    #restore() {
        if (!this.kept) return;
        const { scrollTop, focus } = this.kept;
        if (scrollTop && this.element.parentElement) this.element.parentElement.scrollTop = scrollTop;
        if (focus && (document.activeElement === document.body || !document.activeElement)) {
            this.element.querySelectorAll(focus.selector)[focus.index]?.focus({ preventScroll: true });
        }
    }

    /** Whether somebody is typing here. */
    get isBusy() {
        return this.element.contains(document.activeElement) && /^(INPUT|TEXTAREA)$/.test(document.activeElement.tagName);
    }

    again() { if (this.owner) this.show(this.owner, this.key); }

    #properties(owner, key, cells) {
        return h("dl", { class: "values" }, owner.properties.map((property, index) => {
            const draft = this.app.draft.pending(owner.name, key, property);
            const cell = draft === undefined ? cells[index] : draft;
            return h("div", { class: draft === undefined ? "value" : "value drafted", data: { property: property.name } },
                h("dt", {}, property.name, h("span", { class: "type" }, typeText(property))),
                h("dd", {}, this.#value(owner, key, property, cell, cells[index])));
        }));
    }

    #value(owner, key, property, cell, was) {
        if (property.collection || property.type === "inverse link") return this.#many(owner, key, property, cell);
        const shownValue = this.#shown(owner, key, property, cell);
        if (!this.app.isEditing || property.isPrimaryKey) return shownValue;
        return this.#edited(owner, key, property, cell, was, shownValue);
    }

    #shown(owner, key, property, cell) {
        if (cell == null) return h("span", { class: "null" }, "null");
        if (property.ownsTargets) return this.#inside(property, cell);
        switch (property.type) {
        case "link": return this.#link(cell);
        case "mixed": return this.#mixed(cell);
        case "data": return this.#data(owner, key, property, cell);
        case "date": return h("span", {}, localDate(cell), h("span", { class: "exact" }, cell));
        case "string": return h("span", { class: "text" }, element(cell, property),
            typeof cell === "object" ? h("span", { class: "exact" }, `of ${bytes(cell.n)}`) : null);
        default: return h("span", { class: "text" }, element(cell, property));
        }
    }

    #link(cell) {
        const found = link(cell, (className, key) => this.app.go(className, key));
        if (found.tagName === "A") found.tabIndex = 0;
        return found;
    }

    #mixed(cell) {
        if (cell.t === "link") return h("span", {}, h("span", { class: "kind" }, "link "), this.#link(cell.v));
        if (cell.t === "list" || cell.t === "dictionary") {
            return h("details", { open: true }, h("summary", {}, `${cell.t} of ${cell.v.n}`),
                h("ul", { class: "elements" }, cell.v.p.map((part) => h("li", {}, cell.t === "dictionary"
                    ? [h("span", { class: "entry" }, part[0]), part[1] == null ? "null" : this.#mixed(part[1])]
                    : part == null ? "null" : this.#mixed(part)))));
        }
        return h("span", {}, h("span", { class: "kind" }, `${cell.t} `), element(cell.v, { type: cell.t }));
    }

    /** An embedded object, opened in place. */
    #inside(property, cell) {
        if (cell.k < 0) return h("span", { class: "dim" }, cell.t);
        const owner = this.app.classOf(property.target), body = h("div", { class: "inside" });
        const open = async () => {
            if (body.childElementCount) return;
            try {
                const object = await this.app.ask("object", { class: owner.name, key: cell.k });
                body.append(this.#properties(owner, cell.k, object.cells));
                this.#restore();
            } catch (error) { body.append(h("p", { class: "bad" }, error.message)); }
        };
        const details = h("details", { ontoggle: () => { if (details.open) open(); } },
            h("summary", {}, cell.t || property.target), body);
        details.open = !property.collection;
        return details;
    }

    // Data

    #data(owner, key, property, cell) {
        const box = h("div", { class: "bytes" }, h("span", { class: "dim" }, bytes(cell.n)), h("pre", {}, dump(cell.h)));
        const type = imageTypes.find(([magic]) => cell.h.startsWith(magic))?.[1];
        if (type && cell.n <= mostImageBytes) {
            this.app.ask("bytes", { class: owner.name, key, property: property.name, from: 0, count: cell.n })
                .then(({ base64 }) => box.prepend(h("img", {
                    src: `data:${type};base64,${base64}`, alt: `The image in ${property.name}`, class: "preview" })))
                .catch(() => {});
        }
        return box;
    }

    // Many

    #many(owner, key, property, cell) {
        const edits = this.app.draft.editsElements(owner.name, key, property).length;
        const canEdit = this.app.isEditing && property.type !== "inverse link";
        const list = h("ul", { class: "elements" });
        const draw = () => list.replaceChildren(...this.app.draft.applied(owner.name, key, property, cell)
            .map((part, index) => this.#element(owner, key, property, part, index, canEdit)));
        const more = cell.n > cell.p.length && property.type !== "inverse link"
            ? button(`Show more of ${number.format(cell.n)}`, async () => {
                const members = { class: owner.name, key, property: property.name, from: cell.p.length, count: 200 };
                cell.p.push(...await this.app.ask("elements", members));
                draw();
                if (cell.p.length >= cell.n) more.remove();
            }, { class: "small" }) : null;
        draw();
        const isObjects = property.type === "inverse link" || property.type === "link" && !property.ownsTargets;
        return h("div", {},
            h("div", { class: "many-head" }, h("span", { class: "badge" }, number.format(cell.n)),
                edits ? h("span", { class: "drafted-mark" }, `${edits} in the draft`) : null,
                isObjects && cell.n > 0 ? button("As a table", () => this.app.showOf(owner, key, property), { class: "small" }) : null,
                canEdit ? button("Add…", () => this.#add(owner, key, property), { class: "small" }) : null),
            list, more);
    }

    #element(owner, key, property, part, index, canEdit) {
        const { entry, cell, isNew } = part;
        const content = cell == null ? h("span", { class: "null" }, "null")
            : property.ownsTargets ? this.#inside(property, cell)
            : property.type === "link" || property.type === "inverse link" ? this.#link(cell)
            : property.type === "mixed" ? this.#mixed(cell)
            : h("span", { class: "text", title: property.type === "date" ? cell : null }, element(cell, property));
        const item = h("li", { data: { index }, class: isNew ? "drafted" : "" }, entry == null ? null : h("span", { class: "entry" }, entry), content);
        // A new element of a set has no place yet: the draft takes it back.
        if (!canEdit || isNew && property.collection === "set") return item;
        const place = entry == null ? { at: index } : { entry };
        // A new element has no cell of Studio's to compare.
        const was = isNew ? {} : { was: cell };
        const change = (members, text) => {
            this.app.draft.element(owner, key, property, { ...place, ...was, ...members }, text);
            this.again();
        };
        item.append(button("✕", () => change({ edit: "erase" }, `without ${plainElement(cell, property)}`), { class: "small icon", "aria-label": `Remove element ${entry ?? index + 1}` }));
        if (property.collection === "list") this.#makeMovable(item, index, change);
        return item;
    }

    /** A list's elements are moved by dragging, or with Alt and the arrow keys. */
    #makeMovable(item, index, change) {
        item.draggable = true;
        item.tabIndex = 0;
        item.classList.add("movable");
        const move = (to) => {
            const list = item.parentElement, others = [...list.children];
            if (to < 0 || to >= others.length || to === others.indexOf(item)) return;
            const from = others.indexOf(item);
            others[to].focus();
            change({ edit: "move", at: from, to }, `element ${from + 1} moves to ${to + 1}`);
        };
        item.addEventListener("dragstart", (event) => {
            event.dataTransfer.effectAllowed = "move";
            event.dataTransfer.setData("text/plain", String(index));
            item.parentElement.dragged = item;
        });
        item.addEventListener("dragover", (event) => { if (item.parentElement.dragged) event.preventDefault(); });
        item.addEventListener("drop", (event) => {
            event.preventDefault();
            const dragged = item.parentElement.dragged;
            item.parentElement.dragged = null;
            dragged?.dispatchEvent(new CustomEvent("move-to", { detail: [...item.parentElement.children].indexOf(item) }));
        });
        item.addEventListener("move-to", ({ detail }) => move(detail));
        item.addEventListener("keydown", (event) => {
            const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
            if (!event.altKey || !step || event.target !== item) return;
            event.preventDefault();
            move([...item.parentElement.children].indexOf(item) + step);
        });
    }

    async #add(owner, key, property) {
        const { draft } = this.app;
        let entry = null;
        if (property.collection === "dictionary") {
            const input = h("input", { type: "text", "aria-label": "Key", required: true });
            entry = await dialog(`A key in ${property.name}`, h("label", {}, "Key ", input), [["Next", () => input.value, { class: "main" }]]);
            if (!entry) return;
        }
        const given = property.ownsTargets ? { value: {}, cell: { k: -1, t: "a new object" } } : await this.app.askValue(property, null);
        if (!given) return;
        const members = entry == null ? { edit: "insert", at: 2 ** 40, ...given } : { edit: "set", entry, ...given };
        draft.element(owner, key, property, members, `with ${entry == null ? "" : `${entry}: `}${plainElement(given.cell, property)}`);
        this.again();
    }

    // Editing

    #edited(owner, key, property, cell, was, shownValue) {
        const { draft } = this.app;
        const keep = (value, drawn) => { draft.set(owner, key, property, value, was, drawn); this.again(); };
        const setNull = property.isOptional && cell != null
            ? button("null", () => keep(null, null), { class: "small", "aria-label": `Set ${property.name} to null` }) : null;
        if (property.ownsTargets) {
            return h("div", {}, shownValue, cell == null
                ? button("Create", () => keep({}, { k: -1, t: "a new object" }), { class: "small" }) : setNull);
        }
        if (property.type === "link" || property.type === "mixed" || property.type === "data"
            || property.type === "string" && typeof cell === "object" && cell) {
            return h("div", { class: "edit" }, shownValue, button("Change…", async () => {
                const given = await this.app.askValue(property, cell);
                if (given) keep(given.value, given.cell);
            }, { class: "small" }), setNull);
        }
        return h("div", { class: "edit" }, field(property, cell, keep), setNull);
    }
}

/** A field for a value of a type; `keep(value, cell)` is called with what is typed, if it is valid. */
export function field(property, cell, keep) {
    if (property.type === "bool") {
        const box = h("input", {
            type: "checkbox", checked: cell === true, "aria-label": property.name,
            onchange: () => keep(box.checked, box.checked),
        });
        return h("label", { class: "check" }, box, cell == null ? "null" : String(cell));
    }
    const hint = h("span", { class: "bad hint", role: "alert" });
    const text = property.type === "string" && /\n/.test(editable(cell, property));
    const input = h(text ? "textarea" : "input", {
        type: text ? null : "text", value: editable(cell, property), "aria-label": property.name, rows: text ? "4" : null,
        placeholder: cell == null ? "null" : "", spellcheck: "false",
        onchange: () => {
            try {
                hint.textContent = "";
                input.removeAttribute("aria-invalid");
                if (input.value === editable(cell, property) && cell != null) return;
                const value = parsed(input.value, property);
                keep(value, value);
            } catch (error) {
                hint.textContent = `It takes ${error.message}.`;
                input.setAttribute("aria-invalid", "true");
            }
        },
    });
    return h("span", { class: "field" }, input, hint);
}

/** Asks for a value. Resolves to `{ value, cell }`, or null. `find(className, text)` finds objects. */
export async function askValue(property, cell, find) {
    if (property.type === "link") return askLink(property.target, find);
    let type = property.type === "mixed" ? (mixedTypes.includes(cell?.t) ? cell.t : "string") : property.type;
    const input = h("textarea", {
        rows: "3", "aria-label": "Value", spellcheck: "false",
        value: editable(property.type === "mixed" ? cell?.v : type === "data" ? cell?.h : cell, { type }),
    });
    const hint = h("p", { class: "bad", role: "alert" });
    const kind = property.type === "mixed" ? h("select", { "aria-label": "Type", onchange: () => { type = kind.value; } },
        mixedTypes.map((each) => h("option", { value: each }, each))) : null;
    if (kind) kind.value = type;
    const upload = type === "data" ? h("input", { type: "file", "aria-label": "A file with the data" }) : null;
    const chosen = await dialog(`${property.name}: ${property.typeName}`, h("div", {}, kind, input, upload, hint),
        [["Take", () => true, { class: "main" }]]);
    if (!chosen) return null;
    try {
        if (upload?.files.length) {
            const content = new Uint8Array(await upload.files[0].arrayBuffer());
            let text = "";
            for (const byte of content) text += String.fromCharCode(byte);
            return { value: btoa(text), cell: { n: content.length, h: [...content.slice(0, 16)].map((byte) => byte.toString(16).padStart(2, "0")).join("") } };
        }
        const value = parsed(input.value, { type, isOptional: property.isOptional });
        if (property.type === "mixed") return { value: { t: type, v: value }, cell: { t: type, v: value } };
        if (type === "data") return { value, cell: { n: atob(value ?? "").length, h: input.value } };
        return { value, cell: value };
    } catch (error) {
        say(`${property.name} takes ${error.message}.`, true);
        return null;
    }
}

/** Asks for an object to link to. */
async function askLink(className, find) {
    let found = [], chosen = null;
    const list = h("ul", { class: "found", role: "listbox", "aria-label": "Objects" });
    const input = h("input", { type: "search", "aria-label": `Find ${className}`, placeholder: `Find ${className}` });
    const draw = () => list.replaceChildren(...found.map((cell) => h("li", {
        role: "option", tabindex: "0", "aria-selected": String(cell === chosen),
        onclick: () => { chosen = cell; draw(); },
        onkeydown: (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); chosen = cell; draw(); } },
    }, cell.t, h("span", { class: "dim" }, ` #${cell.k}`))));
    let asked = 0;
    const search = async () => {
        const mine = ++asked;
        const answer = await find(className, input.value);
        if (mine !== asked) return;
        found = answer;
        chosen = found.find((cell) => cell.t === input.value) ?? (found.length === 1 ? found[0] : null);
        draw();
    };
    input.addEventListener("input", search);
    search();
    const hint = h("p", { class: "bad", role: "alert" });
    const choose = () => {
        if (chosen) return chosen;
        hint.textContent = found.length ? "Choose one of these objects." : "No object is called so.";
    };
    const done = await dialog(`Link to ${className}`, h("div", {}, input, list, hint), [["Link", choose, { class: "main" }]]);
    return done && { value: { k: done.k }, cell: done };
}

function plainElement(cell, property) { return cell == null ? "null" : plain(cell, { ...property, collection: "" }); }

/** Bytes in lines of sixteen, with their characters. */
function dump(digits) {
    const pairs = digits.match(/../g) ?? [], lines = [];
    for (let start = 0; start < pairs.length; start += 16) {
        const line = pairs.slice(start, start + 16);
        const text = line.map((pair) => parseInt(pair, 16)).map((byte) => byte >= 32 && byte < 127 ? String.fromCharCode(byte) : "·");
        lines.push(`${start.toString(16).padStart(4, "0")}  ${line.join(" ").padEnd(47)}  ${text.join("")}`);
    }
    return lines.join("\n");
}

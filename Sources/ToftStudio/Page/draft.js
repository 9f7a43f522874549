// The changes that wait to be committed together.
import { h, button, dialog, say, many } from "./elements.js";
import { plain } from "./values.js";

export class Draft {
    #next = 1;
    changes = [];

    /** `changed()` is called whenever the draft is another. */
    constructor(changed) { this.changed = changed; }

    get count() { return this.changes.length; }

    /** Sets a property of an object; a second set replaces the first and keeps what was there. */
    set(owner, key, property, value, was, cell) {
        const known = this.changes.find((change) => change.op === "set" && change.class === owner.name
            && change.key === key && change.property === property.name);
        if (known) Object.assign(known, { value, cell });
        else this.changes.push({ op: "set", class: owner.name, key, property: property.name, value, was, cell, info: property });
        this.changed();
    }

    /** Inserts, sets, erases or moves an element. */
    element(owner, key, property, members, text) {
        this.changes.push({ op: "element", class: owner.name, key, property: property.name, ...members, info: property, text });
        this.changed();
    }

    create(owner, values, text) {
        const name = `new:${this.#next++}`;
        this.changes.push({ op: "create", class: owner.name, name, values, text });
        this.changed();
        return name;
    }

    copy(owner, key, values, label) {
        this.changes.push({ op: "copy", class: owner.name, key, values, name: `new:${this.#next++}`, text: label });
        this.changed();
    }

    remove(owner, key, label) {
        if (!this.isDeleted(owner.name, key)) this.changes.push({ op: "delete", class: owner.name, key, text: label });
        this.changed();
    }

    /** Takes a change back; with that of an element the later ones of its collection, whose places follow from it. */
    undo(change) {
        const later = change.op === "element" ? this.editsElements(change.class, change.key, change.info) : [];
        const gone = new Set([change, ...later.slice(later.indexOf(change))]);
        this.changes = this.changes.filter((each) => !gone.has(each));
        this.changed();
    }

    clear() { this.changes = []; this.changed(); }

    isDeleted(className, key) {
        return this.changes.some((change) => change.op === "delete" && change.class === className && change.key === key);
    }

    /** The draft's cell of a property; undefined if it has none. */
    pending(className, key, property) {
        const change = this.changes.find((each) => each.op === "set" && each.class === className && each.key === key
            && each.property === property.name);
        return change && change.cell;
    }

    /** Whether the elements of a collection are changed. */
    editsElements(className, key, property) {
        return this.changes.filter((each) => each.op === "element" && each.class === className && each.key === key
            && each.property === property.name);
    }

    /** The elements of a collection as the draft leaves them: those that are loaded, and new ones. */
    applied(className, key, property, cell) {
        const isDictionary = property.collection === "dictionary";
        const parts = cell.p.map((part) => isDictionary ? { entry: part[0], cell: part[1] } : { cell: part });
        for (const change of this.editsElements(className, key, property)) {
            const known = isDictionary ? parts.findIndex(({ entry }) => entry === change.entry) : change.at;
            if (change.edit === "erase") parts.splice(known, 1);
            else if (change.edit === "move") parts.splice(change.to, 0, ...parts.splice(change.at, 1));
            else if (change.edit === "set" && known >= 0) parts[known] = { entry: change.entry, cell: change.cell, isNew: true };
            else if (cell.n === cell.p.length) parts.push({ entry: change.entry, cell: change.cell, isNew: true });
        }
        return parts;
    }

    /** What Studio gets. */
    get message() {
        return this.changes.map(({ cell, info, text, conflict, ...change }) => change);
    }
}

/** One change, in words. */
export function description(change) {
    switch (change.op) {
    case "set":
        return [h("strong", {}, `${change.class} ${change.key}`), ` ${change.property}: `,
            h("del", {}, plain(change.was, change.info)), " ", h("ins", {}, plain(change.cell, change.info))];
    case "element":
        return [h("strong", {}, `${change.class} ${change.key}`), ` ${change.property}: ${change.text}`];
    case "create": return [h("strong", {}, `New ${change.class}`), ` ${change.text}`];
    case "copy": return [h("strong", {}, `Copy of ${change.class} ${change.text}`)];
    default: return [h("strong", {}, `Delete ${change.class} ${change.text}`)];
    }
}

/** The dialog that shows a draft, commits it, and asks about conflicts. `commit(message)` sends it. */
export async function review(draft, commit) {
    const list = h("ol", { class: "changes" });
    const error = h("p", { class: "bad", role: "alert", hidden: true });
    const fill = () => {
        list.replaceChildren(...draft.changes.map((change) => h("li", { class: change.conflict ? "conflict" : "" },
            h("div", {}, description(change)),
            change.conflict ? conflictChoices(draft, change, fill)
                : button("Undo", () => { draft.undo(change); fill(); }, { class: "small" }))));
        if (draft.count === 0) list.replaceChildren(h("li", {}, "The draft is empty."));
        submit.disabled = draft.count === 0 || draft.changes.some((change) => change.conflict);
    };
    const submit = button("Commit", async () => {
        error.hidden = true;
        try {
            const sent = [...draft.changes], answer = await commit(draft.message);
            if (!answer.conflicts) {
                draft.clear();
                say(`Committed as version ${answer.version}.`);
                box.finish(answer);
                return;
            }
            for (const { change, now, isGone } of answer.conflicts) sent[change].conflict = { now, isGone };
            error.textContent = `${many(answer.conflicts.length, "value has", "values have")} been changed by another program. Nothing is written yet: decide.`;
            error.hidden = false;
        } catch (failure) {
            error.textContent = failure.number != null && draft.count > 1
                ? `Change ${failure.number + 1}: ${failure.message}` : failure.message;
            error.hidden = false;
        }
        fill();
    }, { class: "main", id: "commit" });
    const content = h("div", {}, h("p", { class: "dim" }, "All changes are one transaction: all are written, or none."),
        list, error);
    fill();
    const closed = dialog("Draft", content, [submit, ["Discard all", () => { draft.clear(); return null; }, { class: "danger" }]]);
    const box = document.querySelector("dialog:last-of-type");
    return closed;
}

function conflictChoices(draft, change, fill) {
    const { now, isGone } = change.conflict;
    // Of a collection it is one element.
    const info = change.op === "element" ? { ...change.info, collection: "" } : change.info ?? {};
    const text = isGone ? "It is gone." : `It is ${plain(now, info)} now.`;
    return h("div", { class: "choices" }, h("span", {}, text),
        isGone ? null : button("Keep mine", () => { change.was = now; change.conflict = null; fill(); }, { class: "small mine" }),
        button("Take theirs", () => { draft.undo(change); fill(); }, { class: "small theirs" }));
}

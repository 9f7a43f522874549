// A table of any number of rows. Rows come in blocks as they are needed; only those on the screen
// are elements.
import { h } from "./elements.js";
import { shown, isNumber, typeText } from "./values.js";

const rowHeight = 30, headHeight = 38, blockSize = 100, mostBlocks = 40;
// Browsers end elements at some tens of millions of pixels. A longer table scrolls in a shorter one.
const tallest = 8_000_000;
const mostAtOnce = 3, flashTime = 1600;

export class Table {
    #blocks = new Map();
    #pending = new Set();
    #elements = new Map();
    #flashes = [];
    #first = 0;
    #ownScroll = null;
    #frame = 0;
    #epoch = 0;

    /**
     * `load(from, count)` gives a promise of rows; `columns` are properties; `actions` has `sort`,
     * `open`, `edit`, `go`, `menu`, `active`, `pending` (the draft's value of a cell) and `isDeleted`.
     */
    constructor(columns, load, actions, widths) {
        Object.assign(this, { columns, load, actions, count: 0, row: 0, column: 0 });
        this.widths = columns.map((column) => widths[column.name] ?? defaultWidth(column));
        this.hidden = new Set();
        this.sort = [];
        this.head = h("div", { role: "row", class: "head", "aria-rowindex": "1" });
        this.rows = h("div", { class: "rows", role: "rowgroup" });
        this.space = h("div", { class: "space" }, this.rows);
        this.element = h("div", {
            class: "grid", role: "grid", tabindex: "0", "aria-label": "Objects",
            onkeydown: (event) => this.#key(event),
            onscroll: () => this.#scrolled(),
            onclick: (event) => this.#clicked(event),
            ondblclick: (event) => this.#clicked(event, true),
        }, this.head, this.space);
        this.element.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
        this.observer = new ResizeObserver(() => this.paint());
        this.observer.observe(this.element);
        this.#drawHead();
    }

    /** Ends its work. */
    stop() { this.observer.disconnect(); cancelAnimationFrame(this.#frame); this.#epoch += 1; }

    get visible() { return this.columns.map((_, index) => index).filter((index) => !this.hidden.has(index)); }
    get #height() { return Math.max(rowHeight, this.element.clientHeight - headHeight); }
    get #page() { return this.#height / rowHeight; }
    get #isScaled() { return this.count * rowHeight > tallest; }

    /** Shows other rows, from the first on. */
    reset(count) {
        this.#epoch += 1;
        this.#blocks.clear();
        this.#pending.clear();
        this.#clear();
        this.count = count;
        this.row = 0;
        this.#size();
        this.#goTo(0);
        this.paint();
    }

    /** Follows a change: index sets as runs. The rows on the screen stay where they are. */
    change({ count, deletions, insertions, modifications }) {
        const before = (runs, end) => runs.reduce((sum, [from, to]) =>
            sum + Math.max(0, Math.min(to, end) - from), 0);
        const place = (index) => {
            let moved = index - before(deletions, index);
            for (const [from, to] of insertions) if (from <= moved) moved += to - from;
            return moved;
        };
        const first = Math.floor(this.#first), part = this.#first - first;
        this.row = Math.max(0, Math.min(place(this.row), count - 1));
        this.count = count;
        this.#epoch += 1;
        this.#pending.clear();
        for (const block of this.#blocks.values()) block.isStale = true;
        this.#size();
        this.#goTo(first === 0 ? this.#first : place(first) + part);
        const until = performance.now() + flashTime;
        this.#flashes.push({ runs: modifications, kind: "changed", until },
            { runs: insertions, kind: "inserted", until });
        this.#clear();
        this.paint();
        setTimeout(() => { this.#flashes = this.#flashes.filter((flash) => flash.until > performance.now()); },
            flashTime + 50);
    }

    /** Makes a row the active one, in sight. */
    show(row, column = this.column) {
        this.row = Math.max(0, Math.min(row, this.count - 1));
        this.column = column;
        if (this.row < this.#first) this.#goTo(this.row);
        else if (this.row > this.#first + this.#page - 1) this.#goTo(this.row - this.#page + 1);
        this.#showColumn();
        this.redraw();
        this.actions.active?.(this.row, this.column);
    }

    /** The key and cells of a row that is loaded. */
    at(row) { return this.#blocks.get(Math.floor(row / blockSize))?.rows[row % blockSize]; }

    /** Draws the rows anew, at once. */
    redraw() {
        cancelAnimationFrame(this.#frame);
        this.#frame = 0;
        this.#clear();
        this.#draw();
    }

    // Scrolling

    #size() {
        this.space.style.height = `${Math.min(this.count * rowHeight, tallest)}px`;
        this.element.setAttribute("aria-rowcount", String(this.count + 1));
        this.element.dataset.count = String(this.count);
    }

    get #lastFirst() { return Math.max(0, this.count - this.#page); }

    #goTo(first) {
        this.#first = Math.max(0, Math.min(first, this.#lastFirst));
        const room = this.element.scrollHeight - this.element.clientHeight;
        this.#ownScroll = this.#isScaled
            ? Math.round(this.#first / Math.max(1, this.#lastFirst) * room) : Math.round(this.#first * rowHeight);
        this.element.scrollTop = this.#ownScroll;
    }

    #scrolled() {
        const top = this.element.scrollTop;
        // A scroll that this table has made itself is known more exactly.
        if (this.#ownScroll == null || Math.abs(top - this.#ownScroll) > 1) {
            const room = this.element.scrollHeight - this.element.clientHeight;
            this.#first = this.#isScaled ? top / Math.max(1, room) * this.#lastFirst : top / rowHeight;
        }
        this.#ownScroll = null;
        this.paint();
    }

    #wheel(event) {
        if (!this.#isScaled || event.ctrlKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) return;
        event.preventDefault();
        const unit = event.deltaMode === 1 ? 1 : event.deltaMode === 2 ? this.#page : 1 / rowHeight;
        this.#goTo(this.#first + event.deltaY * unit);
        this.paint();
    }

    // Painting

    paint() {
        if (this.#frame) return;
        this.#frame = requestAnimationFrame(() => { this.#frame = 0; this.#draw(); });
    }

    #clear() {
        for (const element of this.#elements.values()) element.remove();
        this.#elements.clear();
    }

    #draw() {
        const from = Math.max(0, Math.floor(this.#first) - 2);
        const to = Math.min(this.count, Math.ceil(this.#first + this.#page) + 2);
        for (const [index, element] of this.#elements) {
            if (index < from || index >= to) { element.remove(); this.#elements.delete(index); }
        }
        for (let index = from; index < to; index += 1) {
            let element = this.#elements.get(index);
            const row = this.at(index);
            if (element && element.row !== row) { element.remove(); element = null; }
            if (!element) {
                element = this.#row(index, row);
                this.#elements.set(index, element);
                this.rows.append(element);
            }
            element.style.transform = `translateY(${(index - this.#first) * rowHeight}px)`;
        }
        this.element.dataset.first = String(Math.round(this.#first));
        this.#fetch(from, to);
    }

    #row(index, row) {
        const isActive = index === this.row;
        const key = row?.[0];
        const classes = ["row"];
        if (isActive) classes.push("active");
        if (row && this.actions.isDeleted(key)) classes.push("deleted");
        const flash = row && this.#flashOf(index);
        if (flash) classes.push(flash);
        const element = h("div", {
            role: "row", class: classes.join(" "), "aria-rowindex": String(index + 2), data: { index },
            "aria-selected": String(isActive),
        });
        element.row = row;
        if (!row) {
            element.append(h("div", { role: "gridcell", class: "cell waiting" }, "…"));
            return element;
        }
        for (const column of this.visible) {
            const property = this.columns[column];
            const draft = this.actions.pending(key, property);
            const cell = draft === undefined ? row[column + 1] : draft;
            const id = isActive && column === this.column ? "active-cell" : null;
            element.append(h("div", {
                role: "gridcell", id, data: { column },
                class: `cell${isNumber(property) ? " number" : ""}${id ? " here" : ""}`
                    + `${draft === undefined ? "" : " drafted"}`,
            }, shown(cell, property, this.actions.go)));
        }
        if (isActive) this.element.setAttribute("aria-activedescendant", "active-cell");
        return element;
    }

    #flashOf(index) {
        const now = performance.now();
        return this.#flashes.find((flash) => flash.until > now
            && flash.runs.some(([from, to]) => index >= from && index < to))?.kind;
    }

    #fetch(from, to) {
        const first = Math.floor(from / blockSize), last = Math.floor(Math.max(from, to - 1) / blockSize);
        for (let block = first; block <= last; block += 1) {
            const known = this.#blocks.get(block);
            if (this.count === 0 || this.#pending.has(block) || known && !known.isStale) continue;
            if (this.#pending.size >= mostAtOnce) return;
            this.#pending.add(block);
            const epoch = this.#epoch;
            this.load(block * blockSize, blockSize).then((rows) => {
                if (epoch !== this.#epoch) return;
                this.#pending.delete(block);
                this.#blocks.delete(block);
                this.#blocks.set(block, { rows });
                this.#forget(first, last);
                this.paint();
                this.actions.active?.(this.row, this.column, true);
            }, () => { this.#pending.delete(block); });
        }
    }

    #forget(first, last) {
        for (const block of this.#blocks.keys()) {
            if (this.#blocks.size <= mostBlocks) return;
            if (block < first || block > last) this.#blocks.delete(block);
        }
    }

    // Columns

    #drawHead() {
        this.element.style.setProperty("--columns", this.visible.map((index) => `${this.widths[index]}px`).join(" "));
        this.element.setAttribute("aria-colcount", String(this.visible.length));
        const width = this.visible.reduce((sum, index) => sum + this.widths[index], 0);
        this.space.style.width = `${width}px`;
        this.head.style.width = `${width}px`;
        this.head.replaceChildren(...this.visible.map((index) => this.#headCell(index)));
    }

    #headCell(index) {
        const property = this.columns[index];
        const place = this.sort.findIndex((key) => key.by === property.name);
        const key = this.sort[place];
        const cell = h("div", {
            role: "columnheader", class: "cell", title: typeText(property),
            "aria-sort": key ? (key.descending ? "descending" : "ascending") : "none",
        }, h("button", {
            type: "button", class: "sort", tabindex: "-1",
            onclick: (event) => this.actions.sort(property, event.shiftKey),
        }, h("span", { class: "name" }, property.name),
        h("span", { class: "mark" }, `${property.isPrimaryKey ? "◆" : property.isIndexed ? "≡" : ""}`
            + `${key ? (key.descending ? " ↓" : " ↑") : ""}${this.sort.length > 1 && key ? place + 1 : ""}`)),
        h("button", {
            type: "button", class: "more", tabindex: "-1", "aria-label": `Statistics of ${property.name}`,
            title: "Statistics", onclick: () => this.actions.menu(property),
        }, "∑"),
        h("span", { class: "resize", "aria-hidden": "true", onpointerdown: (event) => this.#resize(event, index) }));
        return cell;
    }

    #resize(event, index) {
        event.preventDefault();
        const start = event.clientX, width = this.widths[index], handle = event.target;
        handle.setPointerCapture(event.pointerId);
        handle.onpointermove = (move) => this.#setWidth(index, width + move.clientX - start);
        handle.onpointerup = () => { handle.onpointermove = null; };
    }

    #setWidth(index, width) {
        this.widths[index] = Math.max(48, Math.min(1200, width));
        this.actions.resized?.(this.columns[index], this.widths[index]);
        this.element.style.setProperty("--columns", this.visible.map((each) => `${this.widths[each]}px`).join(" "));
        const sum = this.visible.reduce((total, each) => total + this.widths[each], 0);
        this.space.style.width = this.head.style.width = `${sum}px`;
    }

    sorted(sort) { this.sort = sort; this.#drawHead(); }

    hide(names) {
        this.hidden = new Set(this.columns.map((_, index) => index).filter((index) => names.has(this.columns[index].name)));
        if (this.hidden.has(this.column)) this.column = this.visible[0] ?? 0;
        this.#drawHead();
        this.redraw();
    }

    #showColumn() {
        let left = 0;
        for (const index of this.visible) {
            if (index === this.column) break;
            left += this.widths[index];
        }
        const right = left + this.widths[this.column], { scrollLeft, clientWidth } = this.element;
        if (left < scrollLeft) this.element.scrollLeft = left;
        else if (right > scrollLeft + clientWidth) this.element.scrollLeft = right - clientWidth;
    }

    // Keys and pointers

    #clicked(event, isDouble = false) {
        const cell = event.target.closest(".cell"), row = event.target.closest(".row");
        if (!cell || !row) return;
        this.row = Number(row.dataset.index);
        this.column = Number(cell.dataset.column ?? 0);
        this.redraw();
        this.actions.active?.(this.row, this.column);
        if (isDouble) this.actions.edit(this.row, this.column);
        else this.actions.open(this.row, this.column, false);
    }

    #key(event) {
        if (event.target !== this.element || this.count === 0) return;
        const { visible } = this, page = Math.max(1, Math.floor(this.#page) - 1);
        const place = visible.indexOf(this.column), last = this.count - 1;
        const far = event.ctrlKey || event.metaKey;
        const moves = {
            ArrowDown: () => this.show(far ? last : this.row + 1),
            ArrowUp: () => this.show(far ? 0 : this.row - 1),
            ArrowRight: () => this.show(this.row, visible[far ? visible.length - 1 : Math.min(place + 1, visible.length - 1)]),
            ArrowLeft: () => this.show(this.row, visible[far ? 0 : Math.max(place - 1, 0)]),
            PageDown: () => this.show(this.row + page),
            PageUp: () => this.show(this.row - page),
            Home: () => far ? this.show(0, visible[0]) : this.show(this.row, visible[0]),
            End: () => far ? this.show(last, visible.at(-1)) : this.show(this.row, visible.at(-1)),
            Enter: () => this.actions.open(this.row, this.column, true),
            F2: () => this.actions.edit(this.row, this.column),
            Delete: () => this.actions.remove(this.row),
            s: () => this.actions.sort(this.columns[this.column], event.shiftKey),
            S: () => this.actions.sort(this.columns[this.column], true),
            a: () => this.actions.menu(this.columns[this.column]),
            o: () => this.element.querySelector("#active-cell a.link")?.click(),
            "<": () => { this.#setWidth(this.column, this.widths[this.column] - 24); },
            ">": () => { this.#setWidth(this.column, this.widths[this.column] + 24); },
        };
        const move = event.altKey ? null : moves[event.key];
        if (!move || far && event.key.length === 1) return;
        event.preventDefault();
        event.stopPropagation();
        move();
    }
}

function defaultWidth(property) {
    const isNarrow = innerWidth < 760;
    if (property.collection || property.type === "inverse link") return isNarrow ? 150 : 200;
    if (isNarrow && property.type === "string") return 140;
    return { bool: 90, int: 110, float: 110, double: 120, date: 180, uuid: 290, objectId: 220, string: 200 }[property.type] ?? 160;
}

// Cells as people see them, and what people type as values. Sources/ToftStudio/CellWriter.swift has
// the table of cells.
import { h, bytes, many } from "./elements.js";

export const isNumber = (property) =>
    !property.collection && ["int", "float", "double", "decimal128"].includes(property.type);

const isMany = (property) => property.collection || property.type === "inverse link";

/** Local time, to the second; what is finer or beyond the calendar of JavaScript stays exact. */
export function localDate(text) {
    const date = new Date(text);
    if (Number.isNaN(date.getTime())) return text;
    const two = (number) => String(number).padStart(2, "0");
    return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} `
        + `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

/** The text of a cell. */
export function plain(cell, property) {
    if (cell == null) return "null";
    if (isMany(property)) {
        const parts = cell.p.map((part) => property.collection === "dictionary"
            ? `${part[0]}: ${element(part[1], property)}` : element(part, property));
        return `${parts.join(", ")}${cell.n > cell.p.length ? ", …" : ""}`;
    }
    return element(cell, property);
}

/** The text of a cell that is one value, or one element of many. */
export function element(cell, property) {
    if (cell == null) return "null";
    switch (property.type) {
    case "mixed": return mixed(cell);
    case "link": case "inverse link": return cell.t || `#${cell.k}`;
    case "date": return localDate(cell);
    case "data": return bytes(cell.n);
    case "string": return typeof cell === "object" ? `${cell.s}…` : cell;
    default: return String(cell);
    }
}

function mixed({ t, v }) {
    if (t === "list" || t === "dictionary") {
        return plain(v, { type: "mixed", collection: t });
    }
    return element(v, { type: t });
}

/** The content of a cell of the table. `go` follows a link. */
export function shown(cell, property, go) {
    if (cell == null) return h("span", { class: "null" }, "null");
    if (isMany(property)) {
        if (cell.n === 0) return h("span", { class: "null" }, "empty");
        return h("span", {}, h("span", { class: "badge" }, String(cell.n)), " ", plain(cell, property));
    }
    if (property.type === "link" && !property.ownsTargets) return link(cell, go);
    if (property.type === "mixed" && cell.t === "link") return link(cell.v, go);
    if (property.type === "mixed") {
        return h("span", {}, h("span", { class: "kind" }, cell.t), " ", mixed(cell));
    }
    if (property.type === "bool") {
        return h("span", { class: cell ? "yes" : "no" }, cell ? "true" : "false");
    }
    if (property.type === "date") return h("span", { title: cell }, localDate(cell));
    if (property.type === "data") {
        return h("span", { class: "data" }, `${bytes(cell.n)}  ${cell.h.slice(0, 16)}`);
    }
    const text = element(cell, property);
    return text === "" ? h("span", { class: "null" }, "“”") : text;
}

/** A link to an object, which `go` follows. */
export function link(cell, go) {
    if (!cell.c) return h("span", { class: "null" }, `#${cell.k}`);
    return h("a", {
        href: "#", class: "link", tabindex: "-1", data: { class: cell.c, key: cell.k },
        onclick: (event) => { event.preventDefault(); event.stopPropagation(); go(cell.c, cell.k); },
    }, cell.t || `#${cell.k}`);
}

/** The text that a person edits. */
export function editable(cell, property) {
    if (cell == null) return "";
    if (property.type === "string") return typeof cell === "object" ? cell.s : cell;
    return String(cell);
}

/** The value of what a person typed, for `set`. Throws an error that says what it takes. */
export function parsed(text, property) {
    if (text === "" && property.isOptional && property.type !== "string") return null;
    switch (property.type) {
    case "string": return text;
    case "bool":
        if (text === "true" || text === "false") return text === "true";
        throw new Error("true or false");
    case "int": {
        if (!/^[+-]?\d+$/.test(text.trim())) throw new Error("a whole number");
        const value = BigInt(text.trim());
        if (BigInt.asIntN(64, value) !== value) throw new Error("a number of 64 bits");
        return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
    }
    case "float": case "double": {
        const word = text.trim().toLowerCase();
        if (["nan", "inf", "-inf"].includes(word)) return word;
        if (word === "" || !Number.isFinite(Number(word))) throw new Error("a number");
        return Number(word);
    }
    case "decimal128":
        if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text.trim())) throw new Error("a decimal number");
        return text.trim();
    case "date": {
        const word = text.trim();
        if (/^T-?\d+:-?\d+$/.test(word)) return word;
        // Local time, as it is shown, becomes the exact one.
        if (/^\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d)?)?$/.test(word)) {
            const date = new Date(word.length === 10 ? `${word}T00:00:00` : word.replace(" ", "T"));
            if (!Number.isNaN(date.getTime())) return date.toISOString();
        }
        if (Number.isNaN(new Date(word).getTime())) throw new Error("a date, as 2026-11-22 08:30:00");
        return word;
    }
    case "uuid":
        if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text.trim())) throw new Error("a UUID");
        return text.trim().toLowerCase();
    case "objectId":
        if (!/^[0-9a-f]{24}$/i.test(text.trim())) throw new Error("24 hexadecimal digits");
        return text.trim().toLowerCase();
    case "data": {
        const digits = text.replace(/\s/g, "");
        if (!/^([0-9a-f]{2})*$/i.test(digits)) throw new Error("hexadecimal digits");
        return btoa(digits.replace(/../g, (pair) => String.fromCharCode(parseInt(pair, 16))));
    }
    default: throw new Error("another way to edit it");
    }
}

/** The kinds of mixed values that can be typed. */
export const mixedTypes = ["string", "int", "double", "bool", "date", "decimal128", "uuid", "objectId"];

/** What a type looks like, for people. */
export function typeText(property) {
    const marks = [property.typeName];
    if (property.isPrimaryKey) marks.push("primary key");
    else if (property.isIndexed) marks.push("indexed");
    if (property.isAutoIncremented) marks.push("counted");
    if (property.deleteRule) marks.push(`on delete: ${property.deleteRule}`);
    return marks.join(", ");
}

export { many };

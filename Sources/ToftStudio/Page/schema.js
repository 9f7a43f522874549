// The classes and their links as a picture: layers from those that link to those that are linked to.
import { h, svg, number } from "./elements.js";

const boxWidth = 210, lineHeight = 18, headHeight = 30, gapX = 90, gapY = 28, mostLines = 14;

/** The picture; `open(name)` shows a class. */
export function schemaPicture(classes, open) {
    const boxes = new Map(classes.map((owner) => [owner.name, box(owner)]));
    const edges = classes.flatMap((owner) => owner.properties
        .filter((property) => property.target && property.type === "link" && boxes.has(property.target))
        .map((property) => ({ from: owner.name, to: property.target, property })));
    place(boxes, layers(classes, edges));
    const width = Math.max(...[...boxes.values()].map(({ x }) => x + boxWidth), 0) + 60;
    const height = Math.max(...[...boxes.values()].map(({ y, height: own }) => y + own), 0) + 40;
    const picture = svg("svg", {
        viewBox: `0 0 ${width} ${height}`, width, height, class: "schema", role: "group",
        "aria-label": `${classes.length} classes and ${edges.length} links`,
    }, svg("defs", {}, svg("marker", {
        id: "arrow", viewBox: "0 0 8 8", refX: "7", refY: "4", markerWidth: "7", markerHeight: "7", orient: "auto",
    }, svg("path", { d: "M0 0L8 4L0 8z", class: "arrow" }))),
    edges.map((edge) => line(edge, boxes)), [...boxes.values()].map((each) => node(each, open)));
    return h("div", { class: "picture", tabindex: "0", "aria-label": "Schema" }, picture);
}

function box(owner) {
    const lines = owner.properties.slice(0, mostLines);
    const rest = owner.properties.length - lines.length;
    return { owner, lines, rest, x: 0, y: 0, height: headHeight + (lines.length + (rest ? 1 : 0)) * lineHeight + 10 };
}

/** The layer of each class: links lead to the right, but for those that close a circle. */
function layers(classes, edges) {
    const after = new Map(classes.map(({ name }) => [name, new Set()]));
    for (const { from, to } of edges) if (from !== to) after.get(from).add(to);
    const state = new Map(), order = [];
    const visit = (name) => {
        state.set(name, "open");
        for (const next of after.get(name)) {
            if (state.get(next) === "open") after.get(name).delete(next);
            else if (!state.has(next)) visit(next);
        }
        state.set(name, "done");
        order.unshift(name);
    };
    for (const { name } of classes) if (!state.has(name)) visit(name);
    const layer = new Map(order.map((name) => [name, 0]));
    for (const name of order) for (const next of after.get(name)) layer.set(next, Math.max(layer.get(next), layer.get(name) + 1));
    // A class that nothing links to stands just before the first that it links to.
    for (const name of [...order].reverse()) {
        const next = [...after.get(name)].map((each) => layer.get(each));
        if (next.length) layer.set(name, Math.max(layer.get(name), Math.min(...next) - 1));
    }
    const found = [];
    for (const name of order) (found[layer.get(name)] ??= []).push(name);
    const columns = found.filter(Boolean);
    const before = new Map(classes.map(({ name }) => [name, []]));
    for (const [name, targets] of after) for (const target of targets) before.get(target).push(name);
    // Each class stands near the middle of its neighbours: a few sweeps lessen the crossings.
    for (let sweep = 0; sweep < 6; sweep += 1) {
        const place = new Map(columns.flatMap((column) => column.map((name, index) => [name, index / column.length])));
        for (const column of columns) {
            const middle = (name) => {
                const near = [...before.get(name), ...after.get(name)].map((each) => place.get(each));
                return near.length ? near.reduce((sum, each) => sum + each, 0) / near.length : place.get(name);
            };
            const weights = new Map(column.map((name) => [name, middle(name)]));
            column.sort((left, right) => weights.get(left) - weights.get(right));
        }
    }
    // Classes without links fill columns of their own, rather than one high one.
    return columns.flatMap((column) => {
        const parts = Math.ceil(column.length / 6);
        const size = Math.ceil(column.length / parts);
        return Array.from({ length: parts }, (_, part) => column.slice(part * size, (part + 1) * size));
    });
}

function place(boxes, columns) {
    const heights = columns.map((column) => column.reduce((sum, name) => sum + boxes.get(name).height + gapY, -gapY));
    const tallest = Math.max(...heights, 0);
    columns.forEach((column, index) => {
        let y = 20 + (tallest - heights[index]) / 2;
        for (const name of column) {
            Object.assign(boxes.get(name), { x: 20 + index * (boxWidth + gapX), y });
            y += boxes.get(name).height + gapY;
        }
    });
}

function node({ owner, lines, rest, x, y, height }, open) {
    const show = () => open(owner.name);
    const key = (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); show(); } };
    return svg("g", {
        class: owner.isEmbedded ? "node embedded" : "node", transform: `translate(${x} ${y})`, tabindex: "0", role: "link",
        "aria-label": `${owner.name}, ${owner.count} objects`, onclick: show, onkeydown: key, data: { name: owner.name },
    }, svg("rect", { width: boxWidth, height, rx: 8, class: "box" }),
    svg("path", { d: `M0 ${headHeight}H${boxWidth}`, class: "rule" }),
    svg("text", { x: 12, y: 20, class: "title" }, cut(owner.name, 18)),
    svg("text", { x: boxWidth - 12, y: 20, class: "count", "text-anchor": "end" },
        owner.isEmbedded ? "embedded" : number.format(owner.count)),
    lines.map((property, index) => {
        const top = headHeight + 17 + index * lineHeight;
        const mark = property.isPrimaryKey ? "◆ " : property.isIndexed ? "≡ " : "";
        return [svg("text", { x: 12, y: top, class: property.isPrimaryKey ? "name key" : "name" }, cut(mark + property.name, 15)),
            svg("text", { x: boxWidth - 12, y: top, class: "type", "text-anchor": "end" }, cut(shortType(property), 15))];
    }).flat(),
    rest ? svg("text", { x: 12, y: headHeight + 17 + lines.length * lineHeight, class: "type" }, `and ${rest} more`) : null,
    svg("title", {}, owner.properties.map((property) => `${property.name}: ${property.typeName}`).join("\n")));
}

function shortType(property) {
    const name = property.type === "link" ? property.target : property.type === "inverse link" ? `← ${property.target}` : property.type;
    const marks = { list: "[]", set: "{}", dictionary: "{:}" }[property.collection] ?? "";
    return `${name}${marks}${property.isOptional && property.type !== "link" && property.type !== "mixed" ? "?" : ""}`;
}

function cut(text, most) { return text.length > most ? `${text.slice(0, most - 1)}…` : text; }

function line({ from, to, property }, boxes) {
    const start = boxes.get(from), end = boxes.get(to);
    const index = start.lines.indexOf(property);
    const y1 = start.y + headHeight + 12 + (index < 0 ? start.lines.length : index) * lineHeight;
    const y2 = end.y + headHeight / 2;
    const isRight = end.x > start.x;
    const x1 = start.x + boxWidth, x2 = isRight ? end.x : end.x + boxWidth;
    const bend = isRight ? Math.max(40, (x2 - x1) / 2) : 50;
    const path = isRight
        ? `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2 - 2} ${y2}`
        : `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 + bend} ${y2} ${x2 + 2} ${y2}`;
    const kind = `edge${property.ownsTargets ? " owns" : ""}${property.deleteRule === "cascade" ? " cascade" : ""}`;
    return svg("path", { d: path, class: kind, "marker-end": "url(#arrow)" },
        svg("title", {}, `${from}.${property.name}: ${property.typeName}`));
}

// The statistics of a column, the plan of a query, and the panel of the file.
import { h, svg, button, bytes, number, dialog, say, many } from "./elements.js";
import { plain, element, localDate } from "./values.js";

/** The statistics of a column: what Studio has answered, for people. */
export function statisticsView(property, found) {
    const one = { ...property, collection: "" };
    const facts = [["objects", number.format(found.count)]];
    if (found.empty != null) facts.push(["empty", share(found.empty, found.count)]);
    if (found.nulls != null) facts.push(["null", share(found.nulls, found.count)]);
    if (found.distinct != null) facts.push(["different values", number.format(found.distinct)]);
    for (const name of ["least", "greatest", "average", "sum"]) {
        if (found[name] !== undefined) {
            const isValue = name === "least" || name === "greatest";
            facts.push([name, isValue ? element(found[name], one) : found[name] == null ? "none" : typeof found[name] === "number"
                ? number.format(found[name]) : String(found[name])]);
        }
    }
    return h("div", { class: "statistics" },
        h("h2", {}, property.name), h("p", { class: "dim" }, `${property.typeName}, over the objects shown`),
        h("table", { class: "facts" }, h("tbody", {}, facts.map(([name, value]) =>
            h("tr", {}, h("th", { scope: "row" }, name), h("td", {}, value))))),
        found.bins?.length ? histogram(property, found.bins) : null,
        found.top?.length ? h("div", {}, h("h3", {}, "Most frequent"), h("ol", { class: "top" }, found.top.map(([cell, count]) =>
            h("li", {}, bar(count, found.top[0][1]), h("span", { class: "text" }, plain(cell, one) || "“”"),
                h("span", { class: "dim" }, number.format(count)))))) : null);
}

function share(part, all) {
    return all ? `${number.format(part)} (${(part / all * 100).toFixed(part && part < all ? 1 : 0)} %)` : "0";
}

function bar(part, most) {
    const width = Math.max(1, Math.round(part / Math.max(1, most) * 100));
    return svg("svg", { class: "bar", viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" },
        svg("rect", { width, height: 8 }));
}

function histogram(property, bins) {
    const most = Math.max(...bins.map(([, , count]) => count)), width = 300, height = 90;
    const step = width / bins.length;
    const text = (value) => property.type === "date" ? localDate(new Date(value * 1000).toISOString()).slice(0, 10)
        : number.format(Math.round(value * 100) / 100);
    return h("figure", { class: "histogram" }, svg("svg", {
        viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", role: "img", "aria-label": `Histogram from ${text(bins[0][0])} to ${text(bins.at(-1)[1])}`,
    }, bins.map(([from, to, count], index) => {
        const tall = count === 0 ? 0 : Math.max(1, count / most * height);
        return svg("rect", { x: index * step + 0.5, y: height - tall, width: step - 1, height: tall },
            svg("title", {}, `${text(from)} to ${text(to)}: ${number.format(count)}`));
    })), h("figcaption", {}, h("span", {}, text(bins[0][0])), h("span", {}, text(bins.at(-1)[1]))));
}

/** How a query was worked out: each step with the objects that it read or found. */
export function planView(text) {
    const lines = text.split("\n").filter((line) => line.trim());
    const counts = lines.map((line) => Number(line.match(/(\d[\d,]*) (?:objects?|results?)/)?.[1]?.replace(/,/g, "") ?? 0));
    const most = Math.max(...counts, 1);
    return h("div", { class: "plan" }, h("h2", {}, "How it was found"), h("ol", {}, lines.map((line, index) => {
        const usesIndex = /look up|index|primary key/.test(line) && !/scan/.test(line);
        const kind = usesIndex ? "index" : /^\s*scan/.test(line) ? "scan" : /sort/.test(line) ? "order" : "step";
        return h("li", { class: kind }, h("span", { class: "kind" }, { index: "index", scan: "scan", order: "order", step: "" }[kind]),
            h("span", { class: "text" }, line.trim()), counts[index] ? bar(counts[index], most) : null);
    })));
}

/** The panel of a file. `app` has `ask`, `file`, `classes`, `current`. */
export class FilePanel {
    constructor(app) {
        this.app = app;
        this.facts = h("div", {});
        this.jobs = h("ul", { class: "jobs", "aria-label": "Work on the file", "aria-live": "polite" });
        this.element = h("section", { class: "file", "aria-label": "File" }, h("h1", {}, app.file.name), this.facts,
            h("div", { class: "actions wide" },
                button("Check", () => this.#run("Check", "check", {}, checked)),
                button("Compact", () => this.#run("Compact", "compact", {}, compacted)),
                button("Copy…", () => this.#copy()),
                button("Export…", () => this.#export()),
                button("Import…", () => this.#import()),
                button("Salvage…", () => this.#salvage())), this.jobs);
    }

    async refresh() {
        try {
            const facts = await this.app.ask("facts");
            this.facts.replaceChildren(...factsView(facts));
        } catch (error) { this.facts.replaceChildren(h("p", { class: "bad" }, error.message)); }
    }

    async #run(title, name, members, text) {
        const meter = h("progress", { max: "100", "aria-label": title });
        const state = h("span", {}, " under way");
        const cancel = button("End", () => this.app.ask("cancel", { job: answer.job }).catch(() => {}), { class: "small" });
        const item = h("li", {}, h("strong", {}, title), state, meter, cancel);
        this.jobs.prepend(item);
        const answer = this.app.ask(name, members, (percent) => { meter.value = percent; state.textContent = ` ${percent} %`; });
        try {
            item.replaceChildren(h("strong", {}, title), ` ${text(await answer)}`);
            item.dataset.state = "done";
        } catch (error) {
            item.replaceChildren(h("strong", {}, title), h("span", { class: "bad" }, ` ${error.message}`));
            item.dataset.state = "failed";
        }
        this.refresh();
    }

    #stem() { return this.app.file.name.replace(/\.[^.]*$/, ""); }

    async #ask(title, label, value, more) {
        const input = h("input", { type: "text", value, "aria-label": label, spellcheck: "false" });
        const where = h("p", { class: "dim" }, `In ${this.app.file.folder}`);
        return dialog(title, h("div", {}, h("label", {}, label, " ", input), where, more), [["Write", () => input.value, { class: "main" }]]);
    }

    async #copy() {
        const to = await this.#ask("Copy without free space", "Name", `${this.#stem()}-copy.toft`);
        if (to) this.#run("Copy", "copy", { to }, ({ path }) => `is ${path}`);
    }

    async #salvage() {
        const to = await this.#ask("Read what is left of a damaged file", "Name of the new file", `${this.#stem()}-salvaged.toft`,
            h("p", {}, "Nobody may have the damaged file open, this page neither: salvage it where it does not open."));
        if (to) this.#run("Salvage", "salvage", { to }, salvaged);
    }

    async #export() {
        const { current } = this.app;
        if (!current) return say("Show a class first: what is shown is exported.", true);
        const csv = h("input", { type: "checkbox", checked: true });
        const to = await this.#ask(`Export ${many(current.count, "object")} of ${current.owner.name}`, "Name",
            `${current.owner.name}.csv`, h("label", { class: "check" }, csv, "comma-separated values; otherwise JSON lines"));
        if (to) this.#run("Export", "export", { view: current.view, to, csv: csv.checked }, ({ path, objects }) => `${many(objects, "object")} in ${path}`);
    }

    async #import() {
        const from = await chooseFile(this.app);
        if (!from) return;
        const owners = this.app.classes.filter((owner) => !owner.isEmbedded);
        const owner = h("select", { "aria-label": "Class" }, owners.map(({ name }) => h("option", { value: name }, name)));
        const updates = h("input", { type: "checkbox" });
        const go = await dialog(`Import ${from}`, h("div", {}, h("label", {}, "Into the class ", owner),
            h("label", { class: "check" }, updates, "change objects whose primary key exists")), [["Import", () => true, { class: "main" }]]);
        if (!go) return;
        this.#run("Import", "import", { from, class: owner.value, csv: /\.csv$/i.test(from), updates: updates.checked },
            ({ created, updated }) => `${number.format(created)} created, ${number.format(updated)} updated`);
    }
}

/** Chooses a file in the folder that Studio may use. */
async function chooseFile(app) {
    let path = "", chosen = null;
    const list = h("ul", { class: "found", role: "listbox", "aria-label": "Files" });
    const where = h("p", { class: "dim" });
    const draw = async () => {
        where.textContent = `${app.file.folder}/${path}`;
        const entries = await app.ask("folder", { path }).catch((error) => { say(error.message, true); return []; });
        const up = path ? [{ name: "..", isFolder: true }] : [];
        list.replaceChildren(...[...up, ...entries].map((entry) => {
            const pick = () => {
                if (!entry.isFolder) {
                    chosen = path ? `${path}/${entry.name}` : entry.name;
                    for (const item of list.children) item.setAttribute("aria-selected", String(item.dataset.name === entry.name));
                    return;
                }
                path = entry.name === ".." ? path.split("/").slice(0, -1).join("/") : path ? `${path}/${entry.name}` : entry.name;
                draw();
            };
            return h("li", { role: "option", tabindex: "0", data: { name: entry.name }, onclick: pick,
                onkeydown: (event) => { if (event.key === "Enter") { event.preventDefault(); pick(); } } },
            entry.isFolder ? "▸ " : "", entry.name, entry.isFolder ? null : h("span", { class: "dim" }, ` ${bytes(entry.bytes)}`));
        }));
    };
    draw();
    return dialog("Choose a file of JSON lines or CSV", h("div", {}, where, list), [["Choose", () => chosen, { class: "main" }]]);
}

const checked = ({ problems, pages, objects }) => problems.length
    ? `found ${many(problems.length, "problem")}: ${problems.slice(0, 5).join("; ")}`
    : `found no problem in ${many(pages, "page")} and ${many(objects, "object")}`;
const compacted = ({ bytesBefore, bytesAfter, heldBytes }) => `${bytes(bytesBefore)}, now ${bytes(bytesAfter)}`
    + (heldBytes ? `; earlier versions still need ${bytes(heldBytes)}` : "");
const salvaged = ({ path, isComplete, classes }) => `${isComplete ? "all" : "not all"} of it is in ${path}: `
    + classes.map(({ name, objects, missing }) => `${number.format(objects)} ${name}${missing ? `, ${missing} missing` : ""}`).join("; ");

function factsView(facts) {
    const parts = [["live", facts.liveBytes], ["for readers", facts.heldBytes], ["free", facts.freeBytes], ["log", facts.logBytes]];
    let left = 0;
    const total = Math.max(1, parts.reduce((sum, [, size]) => sum + size, 0));
    const picture = svg("svg", { class: "sizes", viewBox: "0 0 400 18", preserveAspectRatio: "none", role: "img",
        "aria-label": parts.map(([name, size]) => `${name} ${bytes(size)}`).join(", ") },
    parts.map(([, size], index) => {
        const width = size / total * 400, rect = svg("rect", { x: left, width, height: 18, class: `part${index}` });
        left += width;
        return rect;
    }));
    const rows = [["path", facts.path], ["version", number.format(facts.version)],
        ["oldest version that is read", facts.oldestVersion === facts.version ? "the newest" : number.format(facts.oldestVersion)],
        ["commits not at their place yet", facts.checkpointVersion === facts.version ? "none" : `since version ${number.format(facts.checkpointVersion)}`],
        ["not durable yet", facts.deferredBytes ? bytes(facts.deferredBytes) : "nothing"],
        ["schema version", String(facts.schemaVersion)], ["format", String(facts.format)],
        ["encrypted", facts.isEncrypted ? "yes" : "no"], ["size", bytes(facts.fileBytes)]];
    return [picture, h("ul", { class: "legend" }, parts.map(([name, size], index) =>
        h("li", {}, h("span", { class: `swatch part${index}` }), `${name} ${bytes(size)}`))),
    h("table", { class: "facts" }, h("tbody", {}, rows.map(([name, value]) => h("tr", {}, h("th", { scope: "row" }, name), h("td", {}, value))))),
    h("h2", {}, "Who reads which version"), h("table", { class: "facts pins" },
        h("thead", {}, h("tr", {}, ["version", "process", "holds", "for"].map((name) => h("th", { scope: "col" }, name)))),
        h("tbody", {}, facts.pins.map((pin) => h("tr", {}, h("td", {}, number.format(pin.version)),
            h("td", {}, pin.process == null ? "one that only reads" : String(pin.process)), h("td", {}, bytes(pin.heldBytes)),
            h("td", {}, pin.seconds == null ? "" : `${pin.seconds.toFixed(1)} s`)))))];
}

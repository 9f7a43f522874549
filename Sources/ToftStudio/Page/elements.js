// Makes elements. Texts become text nodes: what data holds is never read as HTML.

/** An element with attributes, listeners (on...), properties of `dataset` and children. */
export function h(tag, attributes, ...children) {
    const element = document.createElement(tag);
    assign(element, attributes);
    element.append(...children.flat().filter((child) => child != null && child !== false));
    return element;
}

/** An element of SVG. */
export function svg(tag, attributes, ...children) {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    assign(element, attributes);
    element.append(...children.flat().filter((child) => child != null && child !== false));
    return element;
}

function assign(element, attributes) {
    for (const [name, value] of Object.entries(attributes ?? {})) {
        if (value == null || value === false) continue;
        if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
        else if (name === "value") element.value = value;
        else if (name === "checked" || name === "disabled" || name === "hidden") element[name] = value;
        else if (name === "data") Object.assign(element.dataset, value);
        else element.setAttribute(name, value === true ? "" : value);
    }
}

export function button(text, onclick, attributes) {
    return h("button", { type: "button", onclick, ...attributes }, text);
}

/**
 * A modal dialog; resolves with the value of the action that closes it. An action is a button or a text and a value,
 * or a function that gives it: undefined leaves the dialog open.
 */
export function dialog(title, content, actions = []) {
    return new Promise((resolve) => {
        const box = h("dialog", { "aria-label": title, class: "dialog" });
        const finish = (value) => { box.close(); box.remove(); resolve(value); };
        const form = h("form", { method: "dialog" }, h("h2", {}, title), content,
            h("div", { class: "actions" }, actions.map((action) => {
                if (action instanceof Node) return action;
                const [text, value, attributes] = action;
                return button(text, () => {
                    const chosen = typeof value === "function" ? value() : value;
                    if (chosen !== undefined) finish(chosen);
                }, attributes);
            }),
            button(actions.length ? "Cancel" : "Close", () => finish(null))));
        form.addEventListener("submit", (event) => {
            event.preventDefault();
            const main = form.querySelector("button.main");
            if (main) main.click();
        });
        box.append(form);
        box.addEventListener("cancel", (event) => { event.preventDefault(); finish(null); });
        document.body.append(box);
        box.showModal();
        box.finish = finish;
    });
}

export const number = new Intl.NumberFormat("en");

/** Bytes for people. */
export function bytes(count) {
    if (count < 10_000) return `${number.format(count)} bytes`;
    const units = ["KB", "MB", "GB", "TB"];
    let unit = -1;
    while (count >= 1000 && unit < units.length - 1) { count /= 1000; unit += 1; }
    return `${count < 10 ? count.toFixed(1) : Math.round(count)} ${units[unit]}`;
}

/** Says something in the status line, which screen readers read. */
export function say(text, isBad = false) {
    const status = document.getElementById("status");
    status.textContent = text;
    status.classList.toggle("bad", isBad);
}

export function many(count, one, more = one + "s") {
    return `${number.format(count)} ${count === 1 ? one : more}`;
}

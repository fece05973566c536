// What must move on the pages of `amudai serve`: answers that stream in, offers, brushing, keys. No library.
"use strict";

const byId = (id) => document.getElementById(id);
const pageName = document.body.dataset.page;
let running = null; // the request of the answer that streams in

// ---- theme ----

const themes = ["", "light", "dark"];
function setTheme(name) {
  if (name) document.documentElement.dataset.theme = name;
  else delete document.documentElement.dataset.theme;
  localStorage.setItem("theme", name);
}
setTheme(themes.includes(localStorage.getItem("theme")) ? localStorage.getItem("theme") : "");
function nextTheme() {
  setTheme(themes[(themes.indexOf(localStorage.getItem("theme") || "") + 1) % themes.length]);
}
byId("theme").addEventListener("click", nextTheme);
byId("help").addEventListener("click", () => byId("shortcuts").showModal());

// ---- lines of JSON, as they come ----

async function* linesOf(url, signal) {
  const response = await fetch(url, { signal, credentials: "same-origin" });
  if (!response.ok) {
    const text = await response.text();
    const found = new DOMParser().parseFromString(text, "text/html").querySelector(".problem");
    yield { part: "problem", html: found ? found.outerHTML : "", text: found ? "" : text, status: response.status };
    return;
  }
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) break;
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    for (const line of lines) if (line) yield JSON.parse(line);
  }
}

function fill(element, part) {
  if (part.text) {
    element.textContent = part.text;
    element.className = "problem";
  } else {
    element.innerHTML = part.html;
  }
}

async function fragment(url, into) {
  const response = await fetch(`${url}&part=1`, { credentials: "same-origin" });
  const text = await response.text();
  if (response.ok) {
    into.innerHTML = text;
    return;
  }
  const found = new DOMParser().parseFromString(text, "text/html").querySelector(".problem");
  if (found) into.replaceChildren(found);
  else into.textContent = text;
}

// ---- an answer ----

async function ask() {
  const stop = byId("stop"), table = byId("rows"), body = table.tBodies[0];
  running = new AbortController();
  stop.hidden = false;
  document.body.dataset.state = "asking";
  let state = "done";
  try {
    for await (const part of linesOf(`results${location.search}`, running.signal)) {
      switch (part.part) {
        case "head":
          table.tHead.innerHTML = part.html;
          break;
        case "rows":
          body.insertAdjacentHTML("beforeend", part.html);
          markClickable(body);
          break;
        case "histogram":
          byId("histogram").innerHTML = part.html;
          brushing(byId("histogram").querySelector("svg"));
          break;
        case "receipt":
          byId("receipt-body").innerHTML = part.html;
          break;
        case "problem":
          fill(byId("problem"), part);
          state = part.status === 429 ? "busy" : "failed";
          byId("count").textContent = "";
          break;
        case "end":
          break;
        default: {
          const place = byId(part.part);
          if (place) place.innerHTML = part.html;
        }
      }
    }
  } catch (error) {
    state = error.name === "AbortError" ? "stopped" : "failed";
    const said = state === "stopped" ? "Stopped. What is shown is not all." : `The server does not answer: ${error.message}`;
    fill(byId("problem"), { text: said });
    byId("count").textContent = "";
  }
  running = null;
  stop.hidden = true;
  if (!byId("histogram").firstElementChild) byId("histogram").classList.add("none");
  if (!table.tHead.rows.length) document.body.dataset.empty = "1";
  document.body.dataset.state = state;
}

function stopAsking() {
  if (running) running.abort();
}

function markClickable(body) {
  const heads = [...byId("rows").tHead.rows[0].cells];
  for (const row of body.querySelectorAll("tr:not([data-ready])")) {
    row.dataset.ready = "1";
    [...row.cells].forEach((cell, at) => {
      if (heads[at] && heads[at].dataset.column && !("long" in cell.dataset)) {
        cell.classList.add("clickable");
        cell.title = "Click: only this value. With Alt: without it.";
      }
    });
  }
}

function filterBy(cell, without) {
  const column = byId("rows").tHead.rows[0].cells[cell.cellIndex].dataset.column;
  const value = "null" in cell.dataset ? null : cell.dataset.v ?? cell.textContent;
  const params = new URLSearchParams(location.search);
  params.append(without ? "not" : "is", value === null ? column : `${column}:${value}`);
  params.delete("page");
  location.assign(`search?${params}`);
}

async function openRow(link) {
  const dialog = byId("row");
  byId("row-content").textContent = "reading …";
  if (!dialog.open) dialog.showModal();
  await fragment(link, byId("row-content"));
  dialog.scrollTop = 0;
}

let here = -1;
function moveTo(at) {
  const rows = byId("rows") ? byId("rows").tBodies[0].rows : [];
  if (!rows.length) return;
  if (rows[here]) rows[here].classList.remove("here");
  here = Math.max(0, Math.min(rows.length - 1, at));
  rows[here].classList.add("here");
  rows[here].cells[0].firstElementChild.focus({ preventScroll: true });
  rows[here].scrollIntoView({ block: "nearest" });
}

// ---- brushing: choose a stretch of time ----

function brushing(svg) {
  const bars = [...svg.querySelectorAll("a")], brush = svg.querySelector(".brush");
  const said = svg.closest("figure").querySelector(".stretch");
  let from = -1, to = -1, moved = false;
  const barAt = (event) => {
    const box = svg.getBoundingClientRect();
    return Math.max(0, Math.min(bars.length - 1, Math.floor(((event.clientX - box.left) / box.width) * bars.length)));
  };
  const show = () => {
    const [low, high] = [Math.min(from, to), Math.max(from, to)];
    const step = svg.viewBox.baseVal.width / bars.length;
    brush.setAttribute("x", low * step);
    brush.setAttribute("width", from < 0 ? 0 : (high - low + 1) * step);
    bars.forEach((bar, at) => bar.classList.toggle("chosen", from >= 0 && at >= low && at <= high));
    const text = (time) => time.replace("T", " ");
    said.textContent = from < 0 ? "" : `${text(bars[low].dataset.from)} to ${text(bars[high].dataset.to)}`;
  };
  const narrow = () => {
    const [low, high] = [Math.min(from, to), Math.max(from, to)];
    const params = new URLSearchParams(pageName === "search" ? location.search : bars[low].href.baseVal.split("?")[1]);
    params.set("from", bars[low].dataset.from);
    params.set("to", bars[high].dataset.to);
    params.delete("page");
    location.assign(`search?${params}`);
  };
  svg.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    from = to = barAt(event);
    moved = true;
    svg.setPointerCapture(event.pointerId);
    show();
    event.preventDefault();
    svg.focus({ preventScroll: true });
  });
  svg.addEventListener("pointermove", (event) => {
    if (!moved) return;
    to = barAt(event);
    show();
  });
  svg.addEventListener("pointerup", () => {
    if (moved) narrow();
    moved = false;
  });
  svg.addEventListener("click", (event) => event.preventDefault());
  svg.addEventListener("dragstart", (event) => event.preventDefault());
  svg.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step) {
      if (from < 0) from = to = step > 0 ? 0 : bars.length - 1;
      else {
        to = Math.max(0, Math.min(bars.length - 1, to + step));
        if (!event.shiftKey) from = to;
      }
      show();
    } else if (event.key === "Enter" && from >= 0) {
      narrow();
    } else if (event.key === "Escape" && from >= 0) {
      from = to = -1;
      show();
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  });
}

// ---- offers while one types ----

const box = byId("q"), offers = byId("offers");
let chosen = -1, begun = "", asking = 0;

function grow() {
  box.rows = Math.min(10, box.value.split("\n").length);
}
function hideOffers() {
  offers.hidden = true;
  chosen = -1;
  box.removeAttribute("aria-activedescendant");
}
function choose(at) {
  const items = [...offers.children];
  chosen = (at + items.length) % items.length;
  items.forEach((item, number) => item.setAttribute("aria-selected", String(number === chosen)));
  items[chosen].scrollIntoView({ block: "nearest" });
  box.setAttribute("aria-activedescendant", items[chosen].id);
}
function take(word) {
  const at = box.selectionStart;
  box.setRangeText(word, at - begun.length, at, "end");
  hideOffers();
  box.focus();
}
async function offer() {
  const number = ++asking, text = box.value.slice(0, box.selectionStart);
  if (!text.trim()) return hideOffers();
  const params = new URLSearchParams(new FormData(byId("ask")));
  params.set("q", text);
  let found;
  try {
    const response = await fetch(`complete?${params}`, { credentials: "same-origin" });
    if (!response.ok) return;
    found = await response.json();
  } catch {
    return; // offers are a help, not an answer
  }
  if (number !== asking || document.activeElement !== box) return;
  begun = found.begun;
  const words = found.words.filter((word) => word !== begun).slice(0, 20);
  if (!words.length) return hideOffers();
  offers.replaceChildren(
    ...words.map((word, at) => {
      const item = document.createElement("li");
      item.id = `offer-${at}`;
      item.setAttribute("role", "option");
      item.setAttribute("aria-selected", "false");
      item.textContent = word;
      item.addEventListener("mousedown", (event) => {
        event.preventDefault();
        take(word);
      });
      return item;
    }),
  );
  chosen = -1;
  offers.hidden = false;
}
let waiting = 0;
box.addEventListener("input", () => {
  grow();
  clearTimeout(waiting);
  waiting = setTimeout(offer, 120);
});
box.addEventListener("blur", hideOffers);
box.addEventListener("keydown", (event) => {
  const open = !offers.hidden;
  if (open && event.key === "ArrowDown") choose(chosen + 1);
  else if (open && event.key === "ArrowUp") choose(chosen < 0 ? -1 : chosen - 1);
  else if (open && chosen >= 0 && (event.key === "Enter" || event.key === "Tab")) take(offers.children[chosen].textContent);
  else if (open && event.key === "Escape") hideOffers();
  else if (event.key === "Enter" && !event.shiftKey) byId("ask").requestSubmit();
  else return;
  event.preventDefault();
  event.stopPropagation();
});
byId("ask").addEventListener("submit", () => {
  for (const input of byId("ask").elements) if (!input.value || (input.name === "lang" && input.value === "auto")) input.disabled = true;
});
addEventListener("pageshow", () => {
  for (const input of byId("ask").elements) input.disabled = false;
});
grow();

// ---- clicks and keys ----

document.addEventListener("click", async (event) => {
  const target = event.target;
  const opened = target.closest("a.open");
  if (opened && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
    event.preventDefault();
    return openRow(opened.getAttribute("href"));
  }
  const cell = target.closest("#rows td.clickable");
  if (cell && !String(getSelection())) return filterBy(cell, event.altKey);
  const copy = target.closest("[data-copy]");
  if (copy) {
    await navigator.clipboard.writeText(copy.parentElement.querySelector("pre").textContent);
    copy.textContent = "Copied";
    setTimeout(() => (copy.textContent = "Copy"), 1500);
  }
  const more = target.closest("a.more");
  if (more) {
    event.preventDefault();
    showColumn(more);
  }
  for (const menu of document.querySelectorAll("details.menu[open]")) if (!menu.contains(target)) menu.open = false;
});

async function showColumn(link) {
  const row = link.closest("tr");
  const isOpen = link.getAttribute("aria-expanded") === "true";
  link.setAttribute("aria-expanded", String(!isOpen));
  if (isOpen) return row.nextElementSibling.remove();
  const shown = document.createElement("tr"), cell = shown.insertCell();
  cell.colSpan = row.cells.length;
  cell.textContent = "reading …";
  row.after(shown);
  await fragment(link.getAttribute("href"), cell);
  const svg = cell.querySelector("svg.histogram");
  if (svg) brushing(svg);
}

function toggle(id) {
  const details = byId(id);
  if (!details) return;
  details.open = !details.open;
  details.querySelector("summary").focus();
  if (details.open) details.scrollIntoView({ block: "nearest" });
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape") {
    stopAsking();
    for (const menu of document.querySelectorAll("details.menu[open]")) menu.open = false;
    if (document.activeElement === box) box.blur();
    return;
  }
  if (/^(input|textarea|select)$/i.test(event.target.tagName) || document.querySelector("dialog[open]")) return;
  const link = (key) => document.querySelector(`a[data-key="${key}"]`);
  const isRow = event.target.closest("#rows") !== null || event.target === document.body || event.target.id === "content";
  switch (event.key) {
    case "/": box.focus(); box.select(); break;
    case "?": byId("shortcuts").showModal(); break;
    case "j": moveTo(here + 1); break;
    case "k": moveTo(here < 0 ? 0 : here - 1); break;
    case "ArrowDown": if (!isRow || pageName !== "search") return; moveTo(here + 1); break;
    case "ArrowUp": if (!isRow || pageName !== "search") return; moveTo(here < 0 ? 0 : here - 1); break;
    case "o": if (byId("rows")?.tBodies[0].rows[here]) openRow(byId("rows").tBodies[0].rows[here].cells[0].firstElementChild.getAttribute("href")); break;
    case "n": link("next")?.click(); break;
    case "p": link("prev")?.click(); break;
    case "h": document.querySelector("svg.histogram")?.focus(); break;
    case "r": toggle("receipt"); break;
    case "c": toggle("choose"); break;
    case "g": location.assign("."); break;
    case "t": nextTheme(); break;
    default: return;
  }
  event.preventDefault();
});

// ---- each page ----

if (pageName === "search") {
  byId("stop").addEventListener("click", stopAsking);
  ask();
} else if (pageName === "folder") {
  fetch("totals", { credentials: "same-origin" })
    .then((response) => response.text())
    .then((text) => { byId("totals").innerHTML = text; document.body.dataset.state = "done"; });
} else if (pageName === "shard") {
  const table = document.querySelector("table.columns");
  fetch(table.dataset.encodings, { credentials: "same-origin" })
    .then((response) => (response.ok ? response.json() : {}))
    .then((found) => {
      for (const cell of table.querySelectorAll("td.storage")) {
        const text = found[cell.dataset.path];
        if (text) cell.textContent = `${cell.textContent}: ${text}`;
      }
      document.body.dataset.state = "done";
    });
  byId("verify").addEventListener("click", async () => {
    const button = byId("verify"), bar = byId("verify-progress");
    button.disabled = true;
    bar.hidden = false;
    running = new AbortController();
    try {
      for await (const part of linesOf(button.dataset.url, running.signal)) {
        if (part.part === "progress") bar.value = part.html;
        else if (part.part === "result" || part.part === "problem") fill(byId("verify-result"), part);
      }
    } catch (error) {
      byId("verify-result").textContent = error.name === "AbortError" ? "Stopped." : `The server does not answer: ${error.message}`;
    }
    running = null;
    bar.hidden = true;
    button.disabled = false;
  });
}
if (pageName === "column") document.querySelectorAll("svg.histogram").forEach(brushing);

// Shows what heddle found: the data of #data and nothing else. Text reaches the page as text nodes,
// never as markup.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const report = data.report;
  const at = (id) => document.getElementById(id);
  const svg_space = "http://www.w3.org/2000/svg";

  function make(tag, attributes = {}, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    node.append(...children);
    return node;
  }
  function draw(tag, attributes = {}, ...children) {
    const node = document.createElementNS(svg_space, tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    node.append(...children);
    return node;
  }
  function fill(node, ...children) { node.replaceChildren(...children); return node; }
  const base = (file) => file.slice(file.lastIndexOf("/") + 1);
  const place_text = (p) => p.file ? `${base(p.file)}:${p.line}` : "";

  // --- Source -------------------------------------------------------------------------------------
  const sources = new Map(data.sources.map((s) => [s.file, s.chunks]));
  function code_line(number, text, here) {
    return make("div", { class: here ? "line here" : "line", ...(here ? { "aria-current": "true" } : {}) },
      make("span", { class: "number" }, String(number)), make("span", {}, text || " "));
  }
  /** The lines of `file` that this page holds, at most `around` before and after `line`. */
  function listing(file, line, around = Infinity) {
    const lines = [];
    let before = 0;
    for (const chunk of sources.get(file) || []) {
      chunk.lines.forEach((text, i) => {
        const number = chunk.from + i;
        if (Math.abs(number - line) > around) return;
        if (before && number > before + 1) lines.push(make("div", { class: "gap" }, "..."));
        before = number;
        lines.push(code_line(number, text, number === line));
      });
    }
    return lines.length ? lines : [make("p", { class: "gap" }, "This page does not hold the source.")];
  }
  function place_box(location) {
    const where = place_text(location) || "no source is known";
    const box = make("div", { class: "place" }, make("p", {}, location.text ? `${location.text} ` : "", make("code", {}, where)));
    if (location.file && sources.has(location.file)) box.append(...listing(location.file, location.line, 2));
    return box;
  }

  // --- Verdict ------------------------------------------------------------------------------------
  const verdicts = {
    "terminates": ["It ends under every schedule that CUDA allows.", "good"],
    "may-hang": ["It may hang.", "bad"], "hang": ["It hangs in this execution.", "bad"],
    "defect": ["It has a defect.", "bad"], "clean": ["Nothing was found in this execution.", "good"],
    "suppressed": ["Nothing was found but what a suppression names.", "good"],
    "unknown": ["No answer: the search is not complete.", "warn"],
    "loop": ["This execution runs forever.", "bad"], "blocked": ["In this execution every thread is blocked in the end.", "bad"],
    "ended": ["This execution ends.", "good"], "diverged": ["This is not the execution that was recorded.", "warn"],
    "cut-short": ["The execution was cut short.", "warn"],
  };
  function show_verdict() {
    at("program").textContent = data.program;
    const [words, kind] = verdicts[report.verdict] || [report.verdict, "warn"];
    at("verdict").textContent = words;
    at("verdict").classList.add(kind);
    const facts = at("facts");
    const fact = (name, value) => {
      if (value === undefined || value === null || value === "" || (Array.isArray(value) && !value.length)) return;
      facts.append(make("dt", {}, name), make("dd", {}, Array.isArray(value) ? value.join("; ") : String(value)));
    };
    fact("Verdict", report.verdict);
    fact("Assumes", report.bounds);
    if (report.states !== undefined) {
      fact("Searched", `${report.states} states, ${report.executions} executions${report.complete ? ", every schedule" : ", not every schedule"}`);
    }
    if (report.exit_status !== undefined) fact("Looked at", `one execution, which ended with exit status ${report.exit_status}`);
    fact("Rests on", report.rests_on);
    fact("Not looked at", report.limits);
    fact("Warnings", report.warnings);
    fact("Notes", report.notes);
    fact("Made by", `heddle ${data.version}`);
  }

  // --- Who waits for whom ---------------------------------------------------------------------------
  function wrapped(text, width) {
    const lines = [];
    let line = "";
    for (const word of text.split(" ")) {
      if (line && (line + " " + word).length > width) { lines.push(line); line = word; } else { line = line ? line + " " + word : word; }
    }
    return lines.concat(line).slice(0, 5);
  }
  /** Who runs forever reads some word again and again. Where another party wrote it last, that one is
      whom it waits for: this is known of the execution that the page shows, and of no other. */
  function with_writers(graph, t) {
    if (!graph || !t || t.loop_from === null) return graph;
    const node_of = (actor) => graph.nodes.findIndex((n) => n.name.startsWith(t.actors[actor]));
    const found = new Map();
    const last = new Map(); // by word: who changed it, and in which step
    t.steps.forEach((s, i) => (s.memory || []).forEach((m) => {
      const before = last.get(word_key(m));
      if (m.write && (!before || before.value !== m.value)) last.set(word_key(m), { actor: s.actor, step: i, value: m.value, m });
    }));
    t.steps.slice(t.loop_from).forEach((s) => (s.memory || []).forEach((m) => {
      const writer = last.get(word_key(m)), from = node_of(s.actor);
      if (m.write || !writer || writer.actor === s.actor || from < 0) return;
      const to = node_of(writer.actor);
      if (to >= 0 && to !== from) found.set(`${from} ${to} ${word_key(m)}`, { from, to, text: `reads ${word_name(m)}, written in step ${writer.step + 1} by` });
    }));
    const waiting = new Set([...found.values()].map((e) => e.from));
    return { nodes: graph.nodes, edges: [...graph.edges.filter((e) => e.from !== e.to || !waiting.has(e.from)), ...found.values()] };
  }
  /** Rows from top to bottom: who waits without moving, who moves forever, who could end it. */
  function show_graph(graph) {
    at("graph-box").hidden = !graph;
    if (!graph) return;
    const width = 352, gap = 52, line_height = 17, roles = ["waits", "runs", "left", "nobody"];
    const boxes = [];
    let y = 4;
    const nodes = graph.nodes.map((node, id) => ({ ...node, id })).sort((a, b) => roles.indexOf(a.role) - roles.indexOf(b.role));
    for (const node of nodes) {
      const lines = wrapped(node.name, 42), state = wrapped(node.state, 46);
      const height = 14 + line_height * (lines.length + state.length);
      boxes[node.id] = { node, y, height, lines, state };
      y += height + gap;
    }
    const total = y - gap + 6, left = 34;
    const words = [];
    const picture = draw("svg", { viewBox: `0 0 ${width} ${total}`, role: "img", "aria-labelledby": "graph-name graph-text" },
      draw("title", { id: "graph-name" }, "Who waits for whom"));
    for (const box of boxes) {
      picture.append(draw("rect", { class: `box ${box.node.role}`, x: left, y: box.y, width: width - left - 6, height: box.height, rx: 6 }));
      [...box.lines, ...box.state].forEach((text, i) => picture.append(
        draw("text", { class: i < box.lines.length ? "" : "small", x: left + 10, y: box.y + 19 + i * line_height }, text)));
    }
    const head = (x, y, turn) => draw("path", { class: "head", d: "M0 0 L-8 -4 L-8 4 Z", transform: `translate(${x} ${y}) rotate(${turn})` });
    graph.edges.forEach((edge, i) => {
      const from = boxes[edge.from], to = boxes[edge.to];
      words.push(make("li", {}, `${from.node.name} ${edge.text} ${edge.from === edge.to ? "" : to.node.name}`.trim()));
      if (edge.from === edge.to) {
        const top = from.y + from.height / 2 - 9;
        picture.append(draw("path", { class: "arrow", d: `M${left} ${top + 18} C${left - 28} ${top + 26} ${left - 28} ${top - 8} ${left} ${top}` }), head(left, top, 0));
        return;
      }
      const near = to.y > from.y && to.y - from.y - from.height <= gap + 1;
      if (near) {
        const x = left + 30, y1 = from.y + from.height, y2 = to.y;
        picture.append(draw("path", { class: "arrow", d: `M${x} ${y1} L${x} ${y2 - 6}` }), head(x, y2, 90),
          draw("text", { class: "small", x: x + 10, y: (y1 + y2) / 2 + 4 }, edge.text));
      } else {
        const x = left - 8 - 5 * (i % 5), y1 = from.y + from.height / 2, y2 = to.y + to.height / 2;
        picture.append(draw("path", { class: "arrow", d: `M${left} ${y1} L${x} ${y1} L${x} ${y2} L${left - 6} ${y2}` }), head(left, y2, 0));
      }
    });
    picture.append(draw("desc", { id: "graph-text" }, words.map((w) => w.textContent).join(". ")));
    fill(at("graph"), picture);
    fill(at("graph-words"), ...words);
  }

  // --- A race: two accesses that nothing orders -----------------------------------------------------
  const accesses = (finding) => finding.locations.filter((l) => /^\((1|2)\) /.test(l.text));
  function show_race(finding) {
    const numbered = accesses(finding);
    const race = finding.rule.startsWith("RACE") && numbered.length === 2;
    at("race-box").hidden = !race;
    if (!race) return;
    const width = 352;
    const picture = draw("svg", { viewBox: `0 0 ${width} 150`, role: "img", "aria-labelledby": "race-name" },
      draw("title", { id: "race-name" }, `${numbered[0].text} and ${numbered[1].text}: nothing orders them`));
    numbered.forEach((l, i) => {
      const x = i ? 180 : 4;
      picture.append(draw("rect", { class: "box runs", x, y: 4, width: 168, height: 96, rx: 6 }));
      wrapped(`${l.text} ${place_text(l)}`, 22).forEach((text, n) => picture.append(draw("text", { x: x + 8, y: 24 + n * 17 }, text)));
    });
    picture.append(draw("path", { class: "none", fill: "none", d: "M88 100 L88 122 L264 122 L264 100" }),
      draw("text", { class: "small", x: width / 2, y: 142, "text-anchor": "middle" }, "nothing orders these two"));
    fill(at("race"), picture, make("div", { class: "pair" }, ...numbered.map(place_box)));
    fill(at("order"), ...[...(finding.help || []), ...(finding.rule_text ? [`rule [${finding.rule}]: ${finding.rule_text}`] : [])].map((text) => make("li", {}, text)));
  }

  // --- One finding ----------------------------------------------------------------------------------
  let current = 0, step = 0;
  function show_finding() {
    const finding = (report.findings || [])[current];
    at("finding").hidden = !finding;
    if (finding) {
      at("finding-title").textContent = `${finding.code}: ${finding.message}`;
      const remarks = [...(finding.rule_text ? [`rule [${finding.rule}]: ${finding.rule_text}`] : []), ...(finding.notes || []),
        ...(finding.help || []).map((h) => `help: ${h}`), ...(finding.searched ? [`searched: ${finding.searched}`] : [])];
      fill(at("remarks"), ...remarks.map((text) => make("li", {}, text)));
      show_graph(with_writers(finding.waits, trace()));
      show_race(finding);
      const shown = at("race-box").hidden ? [] : accesses(finding);
      const others = finding.locations.filter((l) => !shown.includes(l));
      at("places-box").hidden = others.length === 0;
      fill(at("places"), ...others.map(place_box));
      at("replay-box").hidden = !finding.replay;
      at("replay").textContent = finding.replay ? `heddle replay --trace ${finding.replay}` : "";
    }
    [...at("findings").children].forEach((button, i) => button.setAttribute("aria-current", String(i === current)));
    show_trace();
  }
  function show_choice() {
    const findings = report.findings || [];
    at("findings").hidden = findings.length < 2;
    findings.forEach((finding, i) => {
      const button = make("button", { type: "button" }, `${i + 1}: ${finding.code}`);
      button.addEventListener("click", () => { current = i; step = 0; show_finding(); remember(); });
      at("findings").append(button);
    });
  }

  // --- The execution --------------------------------------------------------------------------------
  function letters(number) {
    let text = "";
    for (++number; number > 0; number = Math.floor((number - 1) / 26)) text = String.fromCharCode(65 + (number - 1) % 26) + text;
    return text;
  }
  const word_key = (m) => `${m.name} ${m.offset} ${m.bytes}`;
  const word_name = (m) => `${m.name} + ${m.offset}`;
  function value_text(hex, bytes) {
    const value = BigInt("0x" + hex), signed = BigInt.asIntN(bytes * 8, value);
    const small = signed > -1000000n && signed < 1000000n;
    return small ? String(signed) : "0x" + hex;
  }
  const trace = () => data.traces[current] || null;

  function row(t, s, i) {
    const lanes = make("span", { class: "lanes", "aria-hidden": "true" });
    t.actors.forEach((_, a) => lanes.append(make("span", { class: a === s.actor ? "lane on" : "lane" }, a === s.actor ? letters(a) : "·")));
    const what = s.note ? `${s.what}: ${s.note}` : s.what;
    const button = make("button", { type: "button", class: s.noise ? "row noise" : "row", "data-step": String(i),
      "aria-label": `Step ${i + 1}: ${t.actors[s.actor]}: ${what} ${place_text(s)}` },
      make("span", { class: "number" }, String(i + 1)), lanes, make("span", { class: "what" }, what, make("small", {}, place_text(s))));
    button.addEventListener("click", () => go(i));
    return make("li", t.loop_from !== null && i >= t.loop_from ? { class: "loop" } : {}, button);
  }
  function show_trace() {
    const t = trace();
    const some = Boolean(t && t.steps.length);
    at("steps").hidden = !some;
    if (!some) return;
    at("outcome").textContent = t.outcome;
    fill(at("actors"), ...t.actors.map((name, a) => make("li", {}, make("b", {}, letters(a)), make("span", {}, name))));
    const timeline = at("timeline");
    timeline.style.setProperty("--lanes", `${Math.min(t.actors.length * 1.15, 16)}rem`);
    timeline.replaceChildren();
    t.steps.forEach((s, i) => {
      if (i === t.loop_from) timeline.append(make("li", { class: "endless" }, "from here on forever"));
      timeline.append(row(t, s, i));
    });
    if (t.loop_from !== null) timeline.append(make("li", { class: "endless" }, `again from step ${t.loop_from + 1}`));
    at("slider").max = String(t.steps.length);
    step = Math.min(step, t.steps.length - 1);
    show_step();
  }
  function show_memory(t) {
    const words = new Map();
    t.steps.forEach((s) => (s.memory || []).forEach((m) => { if (!words.has(word_key(m))) words.set(word_key(m), { m, value: null, by: "" }); }));
    for (let i = 0; i <= step; ++i) {
      for (const m of t.steps[i].memory || []) {
        const word = words.get(word_key(m));
        word.value = value_text(m.value, m.bytes);
        word.by = `${letters(t.steps[i].actor)} ${m.write ? "wrote" : "read"} it in step ${i + 1}`;
      }
    }
    const touched = new Set((t.steps[step].memory || []).map(word_key));
    const rows = [...words].map(([key, w]) => make("tr", touched.has(key) ? { class: "touched" } : {},
      make("td", {}, word_name(w.m)), make("td", {}, `${w.m.bytes}`), make("td", {}, w.value === null ? "–" : w.value), make("td", {}, w.by)));
    fill(at("memory"), rows.length
      ? make("table", {}, make("thead", {}, make("tr", {}, ...["Place", "Bytes", "Value", "Last seen"].map((h) => make("th", { scope: "col" }, h)))), make("tbody", {}, ...rows))
      : make("p", { class: "hint" }, "No instruction of a device thread touches memory in these steps."));
  }
  function show_step() {
    const t = trace(), s = t.steps[step];
    at("count").textContent = `step ${step + 1} of ${t.steps.length}`;
    at("slider").value = String(step + 1);
    at("slider").setAttribute("aria-valuetext", `step ${step + 1}`);
    at("first").disabled = at("back").disabled = step === 0;
    at("last").disabled = step === t.steps.length - 1;
    at("forward").disabled = step === t.steps.length - 1 && t.loop_from === null;
    [...at("actors").children].forEach((li, a) => li.setAttribute("aria-current", String(a === s.actor)));
    let here = null;
    for (const button of at("timeline").querySelectorAll(".row")) {
      const is_here = Number(button.dataset.step) === step;
      button.setAttribute("aria-current", is_here ? "step" : "false");
      if (is_here) { button.setAttribute("aria-current", "true"); here = button; }
    }
    const list = at("timeline");
    if (here) list.scrollTop = here.offsetTop - list.clientHeight / 2;
    at("source-title").textContent = s.file ? `Source: ${place_text(s)}` : "Source";
    fill(at("source"), ...(s.file ? listing(s.file, s.line) : [make("p", { class: "gap" }, "This step has no source line.")]));
    const line = at("source").querySelector(".here");
    if (line) at("source").scrollTop = line.offsetTop - at("source").offsetTop - at("source").clientHeight / 2;
    show_memory(t);
  }
  /** Stepping past the end of an infinite execution returns to the start of its loop. */
  function go(to) {
    const t = trace();
    if (!t || !t.steps.length) return;
    const end = t.steps.length;
    step = to >= end && t.loop_from !== null ? t.loop_from : Math.max(0, Math.min(to, end - 1));
    show_step();
    remember();
  }

  // --- Links: #finding=2&step=5 ---------------------------------------------------------------------
  function remember() {
    const parts = (report.findings || []).length > 1 ? [`finding=${current + 1}`] : [];
    if (trace()) parts.push(`step=${step + 1}`);
    history.replaceState(null, "", "#" + parts.join("&"));
  }
  function follow() {
    const asked = new URLSearchParams(location.hash.slice(1));
    const number = (name) => { const n = Number.parseInt(asked.get(name) || "1", 10); return Number.isNaN(n) ? 0 : n - 1; };
    current = Math.max(0, Math.min(number("finding"), Math.max(data.traces.length, 1) - 1));
    step = Math.max(0, number("step"));
    show_finding();
  }

  at("first").addEventListener("click", () => go(0));
  at("back").addEventListener("click", () => go(step - 1));
  at("forward").addEventListener("click", () => go(step + 1));
  at("last").addEventListener("click", () => go(trace().steps.length - 1));
  at("slider").addEventListener("input", (event) => go(Number(event.target.value) - 1));
  document.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.target.tagName === "INPUT") return;
    const to = { ArrowRight: step + 1, ArrowDown: step + 1, ArrowLeft: step - 1, ArrowUp: step - 1, Home: 0, End: trace() ? trace().steps.length - 1 : 0 }[event.key];
    // Up and down scroll the page unless the timeline has the focus.
    const vertical = event.key === "ArrowUp" || event.key === "ArrowDown" || event.key === "Home" || event.key === "End";
    if (to === undefined || (vertical && !at("timeline").contains(document.activeElement))) return;
    event.preventDefault();
    go(to);
  });
  window.addEventListener("hashchange", follow);
  show_verdict();
  show_choice();
  follow();
  if (location.hash.includes("step=")) at("steps").scrollIntoView();
})();

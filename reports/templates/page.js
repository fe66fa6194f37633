"use strict";
(function () {
  // Filters. Without this script every statement is on the page and visible.
  var form = document.getElementById("page-filters");
  var search = document.getElementById("page-search");
  var count = document.getElementById("page-count");
  var none = document.getElementById("page-none");
  var selects = Array.from(form.querySelectorAll("select"));
  var items = Array.from(document.querySelectorAll("article.statement"));
  var texts = items.map(function (item) { return item.textContent.toLowerCase(); });
  var at = 0;
  form.hidden = false;

  function matches(item, i, words) {
    return selects.every(function (select) {
      if (select.value === "") { return true; }
      var held = item.getAttribute("data-" + select.dataset.filter);
      return select.dataset.filter === "strength"
        ? held.split(" ").includes(select.value) : held === select.value;
    }) && words.every(function (word) { return texts[i].includes(word); });
  }

  function apply() {
    var words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    var shown = 0;
    items.forEach(function (item, i) {
      item.hidden = !matches(item, i, words);
      if (!item.hidden) { shown += 1; }
    });
    none.hidden = shown > 0;
    count.textContent = shown === items.length
      ? shown + " statements" : shown + " of " + items.length + " statements";
  }

  form.addEventListener("input", function (event) {
    // Typing waits a moment; a choice does not.
    clearTimeout(at);
    if (event.target === search) { at = setTimeout(apply, 120); } else { apply(); }
  });
  form.addEventListener("submit", function (event) { event.preventDefault(); apply(); });
  form.addEventListener("reset", function () { setTimeout(apply, 0); });

  // A link to a statement that the filters hide shows it.
  function land() {
    var target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) { return; }
    var statement = target.closest("article.statement");
    if (statement && statement.hidden) {
      form.reset();
      search.value = "";
      apply();
      target.scrollIntoView();
    }
  }
  window.addEventListener("hashchange", land);
  apply();
  land();

  // The map: what rests on the box under the pointer or the keyboard.
  document.querySelectorAll("svg.map").forEach(function (map) {
    var boxes = Array.from(map.querySelectorAll("a.box"));
    var edges = Array.from(map.querySelectorAll("path.edge"));
    function follow(box) {
      var reached = new Set([box.dataset.n]);
      var grown = true;
      while (grown) {
        grown = false;
        edges.forEach(function (edge) {
          if (reached.has(edge.dataset.a) && !reached.has(edge.dataset.b)) {
            reached.add(edge.dataset.b);
            grown = true;
          }
        });
      }
      map.classList.add("following");
      boxes.forEach(function (b) { b.classList.toggle("on", reached.has(b.dataset.n)); });
      edges.forEach(function (e) { e.classList.toggle("on", reached.has(e.dataset.a)); });
    }
    function leave() { map.classList.remove("following"); }
    boxes.forEach(function (box) {
      box.addEventListener("mouseenter", function () { follow(box); });
      box.addEventListener("focus", function () { follow(box); });
      box.addEventListener("mouseleave", leave);
      box.addEventListener("blur", leave);
    });
  });
})();

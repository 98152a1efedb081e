// Marks the current section in the navigation, and sorts a table by the column whose heading is clicked.
"use strict";

for (const link of document.querySelectorAll("header nav a")) {
  if (link.pathname === location.pathname) {
    link.setAttribute("aria-current", "page");
  }
}

function sorted(rows, column, falling) {
  const text = (row) => row.cells[column].textContent;
  const compare = new Intl.Collator("en", { numeric: true }).compare;
  return [...rows].sort((one, other) => compare(text(one), text(other)) * (falling ? -1 : 1));
}

for (const table of document.querySelectorAll("table")) {
  for (const heading of table.tHead.rows[0].cells) {
    heading.addEventListener("click", () => {
      const falling = heading.dataset.order === "rising";
      heading.dataset.order = falling ? "falling" : "rising";
      const body = table.tBodies[0];
      body.append(...sorted(body.rows, heading.cellIndex, falling));
    });
  }
}

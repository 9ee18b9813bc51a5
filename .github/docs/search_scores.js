// What a search puts first: entries and sections with exactly the name that was asked for; parts of
// results, whose attributes have the names of columns and options, come after everything else.
var Scorer = {
  score: ([page, title, , , score]) => {
    const asked = new URLSearchParams(location.search).get("q") ?? "";
    const name = title.split(" > ").at(-1).toLowerCase();
    if (name === asked.trim().toLowerCase()) return score + 100;
    return page === "reference/api/result-parts" ? score - 50 : score;
  },
  // the others are Sphinx's defaults
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};

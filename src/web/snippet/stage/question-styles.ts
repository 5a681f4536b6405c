/** The styles of a question, in addition to those of all cards. */
export const questionStyles = `
.question { margin: 12px 0 10px; padding: 0; border: 0; min-width: 0 }
.question .scale, .question .choices { display: flex; flex-wrap: wrap; gap: 4px }
.question .choices { flex-direction: column; gap: 6px }
.question .option { position: relative; display: flex; align-items: center; justify-content: center; cursor: pointer }
.question .option input { position: absolute; inset: 0; width: 100%; height: 100%; margin: 0; opacity: 0; cursor: inherit }
.question .scale .option {
  /* In one row, or in two halves: wide enough to be touched, and all the same, so that none is chosen for its size. */
  flex: 1 0 calc((36px * var(--count) - 4px - 100%) * 999); max-width: calc((100% + 4px) / var(--half) - 4.1px);
  min-width: 32px; min-height: 44px; border: 1px solid var(--faint);
  border-radius: calc(var(--radius) * .75); font-variant-numeric: tabular-nums;
}
.question .choices .option {
  justify-content: start; gap: 10px; min-height: 44px; padding: 8px 12px; border: 1px solid var(--faint);
  border-radius: calc(var(--radius) * .75);
}
.question .choices .mark {
  flex: none; width: 18px; height: 18px; border: 2px solid var(--faint); border-radius: 50%;
}
.question .choices .several { border-radius: 4px }
.question .option:has(:checked) { border-color: var(--accent); box-shadow: inset 0 0 0 1px var(--accent) }
.question .scale .option:has(:checked) { background: var(--accent); color: var(--on-accent); font-weight: 600 }
.question .option:has(:checked) .mark { border-color: var(--accent); background: var(--accent); box-shadow: inset 0 0 0 3px var(--background) }
.question .option:hover { background: var(--line) }
.question .scale .option:has(:checked):hover { background: var(--accent) }
.question .option:focus-within:has(:focus-visible) { outline: 2px solid var(--text); outline-offset: 2px }
.question .stars .option {
  flex: 0 0 44px; border: 0; background: none !important; box-shadow: none; font-size: 30px; line-height: 1; color: var(--faint);
}
.question .stars .option > span::before { content: '☆' }
.question .stars .lit > span::before { content: '★' }
.question .scale.stars .lit:is(:hover, :not(:hover)) { color: color-mix(in srgb, var(--accent) 70%, var(--text)) }
.question .ends { display: flex; justify-content: space-between; gap: 12px; margin-top: 4px; font-size: .87em; color: var(--faint) }
.question textarea {
  display: block; width: 100%; min-height: 88px; padding: 8px 10px; font: inherit; color: inherit; resize: vertical;
  background: var(--background); border: 1px solid var(--faint); border-radius: calc(var(--radius) * .75);
}
.question textarea::placeholder { color: var(--faint); opacity: 1 }
.question textarea:focus-visible { outline: 2px solid var(--text); outline-offset: 2px }
.question .complaint { margin: 6px 0 0; font-weight: 600 }
.question .complaint:empty { display: none }
.banner .question { flex: 1 1 20em; margin: 0 }
@media (forced-colors: active) {
  .question .option:has(:checked) { forced-color-adjust: none; background: Highlight !important; color: HighlightText }
  .question .scale.stars .lit:is(:hover, :not(:hover)) { background: none !important; color: Highlight }
  .question .option:has(:checked) .mark { background: HighlightText }
}
`

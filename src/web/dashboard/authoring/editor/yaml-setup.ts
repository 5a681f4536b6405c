import {
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands'
import { yaml } from '@codemirror/lang-yaml'
import {
  bracketMatching,
  foldGutter,
  foldKeymap,
  HighlightStyle,
  indentOnInput,
  indentUnit,
  syntaxHighlighting,
} from '@codemirror/language'
import { lintGutter, lintKeymap } from '@codemirror/lint'
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search'
import type { Extension } from '@codemirror/state'
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from '@codemirror/view'
import { tags } from '@lezer/highlight'
import { placeAt, type Schema, suggestionsAt } from './completion.ts'
import { typingOver } from './typing-over.ts'

/** The colours come from the page, so that the editor is light or dark like the page. */
const look = EditorView.theme({
  '&': { backgroundColor: 'var(--ground-raised)', color: 'var(--text)', height: '100%' },
  '&.cm-focused': { outline: '2px solid var(--accent-8)', outlineOffset: '-1px' },
  '.cm-scroller': { fontFamily: 'var(--mono)', fontSize: 'var(--size-2)', lineHeight: '1.6' },
  '.cm-content': { padding: 'var(--s2) 0', caretColor: 'var(--accent-11)' },
  '.cm-cursor': { borderLeftColor: 'var(--accent-11)' },
  '.cm-gutters': {
    backgroundColor: 'var(--ground-raised)',
    color: 'var(--text-soft)',
    borderInlineEnd: '1px solid var(--line-soft)',
  },
  '.cm-activeLine, .cm-activeLineGutter': {
    backgroundColor: 'color-mix(in oklab, var(--gray-3) 60%, transparent)',
  },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground':
    { backgroundColor: 'var(--accent-4)' },
  '.cm-selectionMatch, .cm-matchingBracket': { backgroundColor: 'var(--accent-3)' },
  '.cm-searchMatch': { backgroundColor: 'var(--warn-4)' },
  '.cm-searchMatch-selected': { backgroundColor: 'var(--warn-6)' },
  '.cm-foldPlaceholder': {
    backgroundColor: 'var(--gray-3)',
    borderColor: 'var(--line)',
    color: 'var(--text-soft)',
  },
  '.cm-panels': {
    backgroundColor: 'var(--gray-2)',
    color: 'var(--text)',
    borderColor: 'var(--line)',
    fontFamily: 'system-ui, sans-serif',
  },
  '.cm-panel.cm-search': { padding: 'var(--s2)' },
  '.cm-panel label': { fontSize: 'var(--size-2)' },
  '.cm-textfield, .cm-button': {
    minHeight: '1.75rem',
    border: '1px solid var(--line)',
    borderRadius: 'var(--radius-small)',
    backgroundColor: 'var(--ground-raised)',
    backgroundImage: 'none',
    color: 'var(--text)',
    fontSize: 'var(--size-2)',
  },
  '.cm-textfield:focus-visible, .cm-button:focus-visible': {
    outline: '2px solid var(--accent-8)',
  },
  '.cm-panel [name=close]': { minWidth: '24px', minHeight: '24px', color: 'var(--text)' },
  '.cm-tooltip': {
    border: '1px solid var(--line)',
    borderRadius: 'var(--radius-small)',
    backgroundColor: 'var(--ground-raised)',
    color: 'var(--text)',
    boxShadow: 'var(--shadow)',
    overflow: 'hidden',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--mono)', maxHeight: '16rem' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: '3px 8px' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': {
    backgroundColor: 'var(--accent-9)',
    color: '#fff',
  },
  '.cm-completionMatchedText': { textDecoration: 'none', fontWeight: '600' },
  '.cm-completionDetail': { color: 'inherit', fontStyle: 'normal', opacity: '0.75' },
  '.cm-tooltip.cm-completionInfo': {
    padding: 'var(--s2) var(--s3)',
    fontFamily: 'system-ui, sans-serif',
    fontSize: 'var(--size-2)',
  },
  '.cm-diagnostic': { padding: 'var(--s1) var(--s2)', whiteSpace: 'pre-wrap' },
})

const colours = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--accent-11)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--good-text)' },
  { tag: [tags.comment, tags.lineComment], color: 'var(--text-soft)', fontStyle: 'italic' },
  { tag: [tags.keyword, tags.bool, tags.null, tags.number], color: 'var(--warn-text)' },
  { tag: [tags.labelName, tags.typeName], color: 'var(--bad-text)' },
  { tag: [tags.punctuation, tags.separator, tags.bracket], color: 'var(--text-soft)' },
])

/** Suggestions by the schema; none until the schema has come. */
const completing = (schema: () => Schema | null) =>
  autocompletion({
    override: [
      ({ state, pos, explicit }) => {
        const [known, place] = [schema(), placeAt(state.doc.toString(), pos)]
        if (!known || !place || (!explicit && place.from === pos && place.field === null))
          return null
        const options = suggestionsAt(known, place)
        return { from: place.from, options, validFor: /^[\w-]*$/ }
      },
    ],
    icons: false,
  })

/** The part of a YAML editor that is the same for every text. */
export const yamlSetup = (schema: () => Schema | null): Extension => [
  lineNumbers(),
  foldGutter(),
  lintGutter(),
  highlightSpecialChars(),
  history(),
  drawSelection(),
  indentOnInput(),
  indentUnit.of('  '),
  bracketMatching(),
  closeBrackets(),
  typingOver,
  highlightActiveLine(),
  highlightActiveLineGutter(),
  highlightSelectionMatches(),
  search({ top: true }),
  yaml(),
  syntaxHighlighting(colours),
  completing(schema),
  look,
  EditorView.lineWrapping,
  keymap.of([
    ...closeBracketsKeymap,
    ...defaultKeymap,
    ...searchKeymap,
    ...historyKeymap,
    ...foldKeymap,
    ...completionKeymap,
    ...lintKeymap,
    indentWithTab,
  ]),
]

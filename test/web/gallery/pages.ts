import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readFlowFile } from '../../../src/core/flow/file.ts'
import { pageFlow } from '../../../src/core/flow/forms.ts'
import type { Theme } from '../../../src/core/flow/theme.ts'
import { bundled } from '../../../src/web/bundle.ts'
import type { Shown } from './shown.ts'

/**
 * The gallery: what visitors see, each kind in each state, on a page of its own. The address says what is
 * shown, so that a picture can be named, and made by a script.
 */

const textOf = (file: string) => readFileSync(join(import.meta.dir, file), 'utf8')

/** The script that draws a picture. It contains all parts, and loads no further file. */
function bundledScript(): string {
  const parts = ['AUTHOR', 'HIGHLIGHT', 'INSPECTION', 'LAUNCHER', 'PREVIEW', 'QUESTION', 'VIDEO']
  const names = parts.flatMap(part => [`CAIRN_SNIPPET_${part}`, `CAIRN_SNIPPET_${part}_INTEGRITY`])
  const defines = Object.fromEntries(names.map(name => [name, '']))
  return bundled('../../../test/web/gallery/cell.ts', 'iife', defines)
}

/** Files of the gallery by address: their type and text. */
const files: Readonly<Record<string, [type: string, body: string]>> = {
  '/gallery/gallery.css': ['text/css', textOf('gallery.css')],
  '/gallery/cell.css': ['text/css', textOf('cell.css')],
  '/gallery/cell.js': ['text/javascript', bundledScript()],
  '/gallery/board.svg': ['image/svg+xml', textOf('board.svg')],
}

/** The state in which a picture is shown, if that is not just its flow's first step. */
const states: Readonly<Record<string, Omit<Shown, 'flow'>>> = {
  'tooltip-middle': { step: 'tip' },
  'modal-last': { step: 'last' },
  'hotspot-open': { press: '.spot' },
  hint: { point: '.spot' },
  checklist: { ticked: ['project'] },
  'checklist-folded': { ticked: ['project'], isFolded: true },
  launcher: { press: '.launcher' },
  'checklist-done': { ticked: ['project', 'invite', 'guide'] },
}

/** The choices of a page, the first of each unless another is named. */
const choices = {
  ground: ['light', 'dark'],
  width: ['desk', 'phone'],
  theme: ['plain', 'brand', 'calm', 'sharp', 'soft', 'bold'],
  language: ['en', 'de', 'fr', 'ar', 'he', 'ja'],
  direction: ['auto', 'rtl'],
} as const
type Choice = keyof typeof choices
type Looks = { [Name in Choice]: (typeof choices)[Name][number] }

const rightToLeft = new Set<string>(['ar', 'he'])

const unsaid = { accent: null, background: null, text: null, radius: null }

const themes: Record<Looks['theme'], Theme | null> = {
  plain: null,
  brand: { ...unsaid, accent: '#0b7285', radius: 10 },
  calm: { ...unsaid, preset: 'calm', accent: '#2f6f5e' },
  sharp: { ...unsaid, preset: 'sharp', accent: '#1c2430', dark: { accent: '#dce4ea' } },
  soft: { ...unsaid, preset: 'soft', accent: '#7048e8' },
  bold: { ...unsaid, preset: 'bold', accent: '#d6336c' },
}

const published = { version: 1, publishedAt: Date.parse('2026-11-20T09:30:00.000Z') }

/** What the gallery shows, by the picture's name. */
const flows = readFlowFile(textOf('cases.yaml')).flows.map(definition =>
  pageFlow({ definition, ...published }),
)
export const pictures: ReadonlyMap<string, Shown> = new Map(
  flows.map(flow => [
    flow.key,
    { flow, ...(flow.launcher && { known: flows }), ...states[flow.key] },
  ]),
)

function looksIn(requested: URLSearchParams): Looks {
  const chosen = Object.entries(choices).map(([name, values]) => {
    const value = requested.get(name)
    return [name, values.find(one => one === value) ?? values[0]]
  })
  return Object.fromEntries(chosen) as Looks
}

const queryOf = (looks: Looks) => `${new URLSearchParams(looks)}`

const escaped = (text: string) => text.replace(/[&<>]/g, sign => `&#${sign.charCodeAt(0)};`)

function contents(looks: Looks): string {
  const link = (name: Choice, value: string) =>
    `<a href="?${escaped(queryOf({ ...looks, [name]: value }))}"${looks[name] === value ? ' aria-current="true"' : ''}>${value}</a>`
  const picked = Object.entries(choices).map(
    ([name, values]) =>
      `<span><b>${name}</b>${values.map(value => link(name as Choice, value)).join('')}</span>`,
  )
  const figures = [...pictures.keys()].map(
    name =>
      `<figure><figcaption>${name}</figcaption><iframe loading="lazy" title="${name}" src="/gallery/${name}?${escaped(queryOf(looks))}"></iframe></figure>`,
  )
  return `<!doctype html><html lang="en"><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>Gallery</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/gallery/gallery.css">
<h1>What visitors see</h1>
<p>Every kind of step and list, in every state, as the snippet draws it. Nothing of it is counted.</p>
<nav aria-label="Looks">${picked.join('')}</nav>
<main class="${looks.width}">${figures.join('\n')}</main></html>`
}

function cell({ flow, ...state }: Shown, { ground, theme, ...looks }: Looks): string {
  const { language } = looks
  const direction = rightToLeft.has(language) ? 'rtl' : looks.direction
  const shown: Shown = { ...state, flow: { ...flow, theme: themes[theme] } }
  return `<!doctype html><html lang="${language}" dir="${direction}" class="${ground}"><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>${flow.key}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/gallery/cell.css">
<script type="application/json" id="shown">${JSON.stringify(shown).replaceAll('<', '\\u003c')}</script>
<script defer src="/gallery/cell.js"></script>
<header><b>Harbor</b><span id="search">Search</span><button type="button" id="new-project">New project</button><button type="button" id="help" aria-label="Help">?</button></header>
<nav><span>Home</span><span>Projects</span><span>People</span></nav>
<main><h1>Projects</h1><section id="card">Draw the floor plan<br><small>Ada, tomorrow</small></section>
<section>Ask for three offers<br><small>Ben, Friday</small></section></main></html>`
}

/** The answer at `/gallery…`: its type and text, or null if there is nothing. */
export function galleryAt({ pathname, searchParams }: URL): [type: string, body: string] | null {
  if (pathname === '/gallery') return ['text/html', contents(looksIn(searchParams))]
  const picture = pictures.get(pathname.slice('/gallery/'.length))
  return picture ? ['text/html', cell(picture, looksIn(searchParams))] : (files[pathname] ?? null)
}

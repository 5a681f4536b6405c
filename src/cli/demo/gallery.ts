import { asPublished } from '../../core/flow/as-published.ts'
import { readFlowFile } from '../../core/flow/file.ts'
import type { Theme } from '../../core/flow/theme.ts'
import type { Shown } from '../../web/gallery/shown.ts'
import { galleryScript } from '../../web/gallery-file.ts'
import board from './gallery/board.svg' with { type: 'text' }
import cases from './gallery/cases.yaml' with { type: 'text' }
import cellStyle from './gallery/cell.css' with { type: 'text' }
import style from './gallery/gallery.css' with { type: 'text' }

/**
 * The demo's gallery: what visitors see, each kind in each state, on a page of its own. The address says what
 * is shown, so that a picture can be named, and made by a script.
 */

/** The state in which a picture is shown, if that is not just its flow's first step. */
const states: Readonly<Record<string, Omit<Shown, 'flow'>>> = {
  'tooltip-middle': { step: 'tip' },
  'modal-last': { step: 'last' },
  'hotspot-open': { press: '.spot' },
  hint: { point: '.spot' },
  checklist: { ticked: ['project'] },
  'checklist-folded': { ticked: ['project'], isFolded: true },
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

const published = { version: 1, publishedAt: '2026-11-20T09:30:00.000Z' }

/** What the gallery shows, by the picture's name. */
export const pictures: ReadonlyMap<string, Shown> = new Map(
  readFlowFile(cases as unknown as string).flows.map(definition => [
    definition.key,
    { flow: asPublished(definition, published), ...states[definition.key] },
  ]),
)

function looksIn(asked: URLSearchParams): Looks {
  const chosen = Object.entries(choices).map(([name, values]) => {
    const value = asked.get(name)
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
  const files: Record<string, [string, string]> = {
    '/gallery/gallery.css': ['text/css', style as unknown as string],
    '/gallery/cell.css': ['text/css', cellStyle as unknown as string],
    '/gallery/cell.js': ['text/javascript', galleryScript],
    '/gallery/board.svg': ['image/svg+xml', board as unknown as string],
  }
  if (pathname === '/gallery') return ['text/html', contents(looksIn(searchParams))]
  const picture = pictures.get(pathname.slice('/gallery/'.length))
  return picture ? ['text/html', cell(picture, looksIn(searchParams))] : (files[pathname] ?? null)
}

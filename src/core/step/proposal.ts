import type { AstRule, AstSelector } from 'css-selector-parser'
import { givenRank } from './given-attribute.ts'
import { fragileParts } from './selector-fragility.ts'
import { partsOf, readSelector } from './selector-syntax.ts'

/** How long a selector will probably keep finding its element. */
export const grades = ['strong', 'fair', 'weak'] as const
export type Grade = (typeof grades)[number]

/** The judgement on a selector that somebody may choose. */
export interface JudgedSelector {
  grade: Grade
  /** Which of its parts will probably break, one sentence each. */
  weaknesses: string[]
  /** Whether a text in it may be the name of a person, which would then be shown, stored and published. */
  mayNamePerson: boolean
}

/** Whether the element itself, and not only one around it, is identified by something that was set by hand. */
const isGivenByHand = ({ rules }: AstSelector): boolean =>
  rules.every(rule => [...partsOf(rule)].at(-1)!.items.some(isGiven))

function isGiven(item: AstRule['items'][number]): boolean {
  if (item.type !== 'Attribute') return item.type === 'Id'
  if (item.name === 'name' || item.name === 'aria-label') return true
  return item.value?.type === 'String' && givenRank(item.name, item.value.value) !== null
}

/** Judges a selector by itself, without a page. */
export function judgeSelector(selector: string): JudgedSelector {
  const read = readSelector(selector)
  const texts = [...selector.matchAll(/=\s*(?:"([^"]*)"|'([^']*)'|([^\]\s]+))/g)]
  const names = texts.some(([, a, b, c]) => mayNamePerson(a ?? b ?? c ?? ''))
  if ('problem' in read) return { grade: 'weak', weaknesses: [read.problem], mayNamePerson: names }
  const weaknesses = fragileParts(read.tree, false)
  const sound = isGivenByHand(read.tree) ? 'strong' : 'fair'
  return { grade: weaknesses.length > 0 ? 'weak' : sound, weaknesses, mayNamePerson: names }
}

const address = /[^\s@]+@[^\s@]+\.[^\s@]+/
const longNumber = /\d[\d\s().-]{7,}\d/
const possessive = /\b\p{Lu}\p{Ll}+['’]s\b/u
/** Two words that each begin with a capital, such as a first name and a surname. */
const twoNames = /(?<!\p{L})(\p{Lu}\p{Ll}+) (\p{Lu}\p{Ll}+)(?!\p{L})/u

/** Words that buttons and headings begin with, but names do not. */
const commonWords = new Set(
  (
    'about accept account activity add admin all analytics and api apply archive back billing book ' +
    'browse buy calendar cancel change chat check choose clear close comment compare configure ' +
    'confirm connect contact continue copy create customer customers dashboard data date delete ' +
    'details disable discard docs done download draft edit enable event events export file files ' +
    'filter find finish first forgot general get go group help hide history home import inbox ' +
    'install integrations invite invoices item items join language last learn list load log main ' +
    'manage mark menu message messages more move my name new next no notifications office ok open ' +
    'order orders our overview page password pay people plan preview pricing print privacy product ' +
    'products profile project projects publish quick read recent refresh remove rename report ' +
    'reports reset restore results run save schedule search security select send settings share ' +
    'show sign sort start status stop submit subscribe support switch table tags task tasks team ' +
    'terms test the today total try turn undo update upgrade upload use user users view welcome ' +
    'workspace yes you your'
  ).split(' '),
)

/**
 * Whether a text may be about one person: a mail address, a long number, "Ann's", or two names in a row.
 * Cautious rather than complete, because the person who reads the warning decides.
 */
export function mayNamePerson(text: string): boolean {
  if (address.test(text) || longNumber.test(text) || possessive.test(text)) return true
  const [, ...names] = twoNames.exec(text) ?? []
  return names.length > 0 && names.every(word => !commonWords.has(word.toLowerCase()))
}

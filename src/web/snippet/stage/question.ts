import { type Answer, maxAnswerLength, scaleOf } from '../../../core/flow/answer.ts'
import type { Question } from '../../../core/flow/question.ts'
import { safely } from '../safely.ts'
import { make } from './make.ts'
import { addStyles } from './part-styles.ts'
import { questionStyles } from './question-styles.ts'
import { answerFirstIn } from './question-words.ts'

/** A question that stands on a card. */
export interface Asking {
  element: HTMLElement
  /** Null until something is chosen or written. */
  answer(): Answer | null
  /** Says that it has to be answered, and moves the focus there. */
  insist(): void
}

/**
 * Draws a question with the browser's own fields, so that arrow keys move in a group as screen reader
 * users know it, in either direction of writing.
 *
 * @param place the element that it stands in, on the card already
 * @param given what was answered before
 */
export function askQuestion(
  question: Question,
  place: HTMLElement,
  page: Window,
  given: Answer | null,
): Asking {
  addStyles(place, questionStyles, page)
  const card = place.closest('[role]')
  const complaint = make(page, 'p', 'complaint', { id: 'complaint', role: 'alert' })
  const fields =
    question.type === 'text'
      ? written(question, page, given)
      : question.type === 'choice'
        ? chosen(question, page, given)
        : rated(question, page, given)
  const named = card?.getAttribute('aria-labelledby') ?? card?.getAttribute('aria-describedby')
  if (named) fields.box.setAttribute('aria-labelledby', named)
  if (question.required) fields.box.setAttribute('aria-required', 'true')
  fields.box.setAttribute('aria-describedby', 'complaint')
  // The group is named on its box and not here, because it must be on an element that may have a name.
  const element = make(page, 'div', 'question', {}, ...fields.around, complaint)
  element.addEventListener('input', () => safely(() => complaint.replaceChildren()))
  place.replaceChildren(element)
  return {
    element,
    answer: fields.answer,
    insist() {
      const language = place.closest<HTMLElement>('[lang]')?.lang || page.navigator.language
      complaint.textContent = answerFirstIn(language)
      fields.first()?.focus()
    },
  }
}

interface Fields {
  /** The element that the step's words name. */
  box: HTMLElement
  around: HTMLElement[]
  answer(): Answer | null
  first(): HTMLElement | null
}

/** Radio buttons or boxes to tick, each in its label. */
function group(
  page: Window,
  className: string,
  options: readonly { value: string; label: string; spoken?: string; isGiven: boolean }[],
  several: boolean,
  marked: boolean,
) {
  const box = make(page, 'div', className, { role: several ? 'group' : 'radiogroup' })
  for (const { value, label, spoken, isGiven } of options) {
    const type = several ? 'checkbox' : 'radio'
    const input = make(page, 'input', '', { type, name: 'answer', value })
    input.checked = isGiven
    if (spoken !== undefined) input.setAttribute('aria-label', spoken)
    const mark = marked ? [make(page, 'span', several ? 'mark several' : 'mark')] : []
    box.append(make(page, 'label', 'option', {}, input, ...mark, make(page, 'span', '', {}, label)))
  }
  const inputs = () => [...box.querySelectorAll('input')]
  const values = () => inputs().flatMap(({ checked, value }) => (checked ? value : []))
  const first = () => inputs().find(({ checked }) => checked) ?? inputs()[0] ?? null
  return { box, inputs, values, first }
}

function rated(question: Question, page: Window, given: Answer | null): Fields {
  const [least, most] = scaleOf(question)
  const { low, high, scale } = question
  const isStars = scale === 'stars'
  const values: number[] = []
  for (let value = least; value <= most; value++) values.push(value)
  const meant = (value: number) => (value === least ? low : value === most ? high : undefined)
  const options = values.map(value => ({
    value: `${value}`,
    label: isStars ? '' : `${value}`,
    spoken: [isStars ? `${value}/${most}` : `${value}`, meant(value)].filter(Boolean).join(', '),
    isGiven: value === given,
  }))
  const made = group(page, isStars ? 'scale stars' : 'scale', options, false, false)
  made.box.style.setProperty('--count', `${values.length}`)
  made.box.style.setProperty('--half', `${Math.ceil(values.length / 2)}`)
  if (isStars) {
    // All up to the chosen one.
    const light = () => {
      const at = made.inputs().findIndex(({ checked }) => checked)
      const labels = [...made.box.children]
      for (const label of labels) label.classList.toggle('lit', labels.indexOf(label) <= at)
    }
    made.box.addEventListener('change', () => safely(light))
    light()
  }
  const end = (text = '') => make(page, 'span', '', {}, text)
  const ends = make(page, 'div', 'ends', { 'aria-hidden': 'true' }, end(low), end(high))
  return {
    box: made.box,
    around: low || high ? [made.box, ends] : [made.box],
    answer: () => made.values().map(Number)[0] ?? null,
    first: made.first,
  }
}

function chosen(question: Question, page: Window, given: Answer | null): Fields {
  const { choices = [], several = false } = question
  const before = [given].flat()
  const options = choices.map(({ key, label }) => ({
    ...{ value: key, label, isGiven: before.includes(key) },
  }))
  const made = group(page, 'choices', options, several, true)
  return {
    box: made.box,
    around: [made.box],
    answer() {
      const values = made.values()
      return values.length === 0 ? null : several ? values : values[0]!
    },
    first: made.first,
  }
}

function written(question: Question, page: Window, given: Answer | null): Fields {
  const { placeholder, longest = maxAnswerLength } = question
  const box = make(page, 'textarea', '', {
    rows: '3',
    dir: 'auto',
    maxlength: `${longest}`,
    ...(placeholder && { placeholder }),
  })
  box.value = typeof given === 'string' ? given : ''
  return {
    box,
    around: [box],
    // A paste may leave half of a character, which not every store gives back.
    answer: () => box.value.trim().replaceAll('\0', '').toWellFormed() || null,
    first: () => box,
  }
}

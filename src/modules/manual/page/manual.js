// Runs in the browser: the search over all topics.

const base = new URL('.', document.currentScript.src)
const maxResults = 12
let loading = null

/** Loaded at the first search. Each entry: topic, its title, heading, anchor, text. */
const loadEntries = () => {
  loading ??= import(new URL('search.js', base).href).then(
    module => module.default,
    error => {
      loading = null
      throw error
    },
  )
  return loading
}

/** Where a word is found: in any text that has it, or as two words, so that "rollback" finds "roll back". */
function patternOf(word) {
  const escaped = part => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
  const forms = [escaped(word)]
  for (let at = 3; at <= Math.min(word.length - 3, 20); at++) {
    forms.push(`\\b${escaped(word.slice(0, at))}[ -]${escaped(word.slice(at))}\\b`)
  }
  return new RegExp(forms.join('|'), 'gi')
}

/** How well an entry answers; 0 where it lacks a word. Words in titles count for more. */
function score([, title, heading, , text], words) {
  let sum = 0
  for (const word of words) {
    const inTitle = title.search(word) >= 0
    const inHeading = heading.search(word) >= 0
    const count = text.match(word)?.length ?? 0
    if (!inTitle && !inHeading && count === 0) return 0
    sum += (inHeading ? 8 : 0) + (inTitle ? 4 : 0) + Math.min(count, 4)
  }
  return sum
}

/** The words around the first one that was found, with what was found marked. */
function excerpt(text, words) {
  const first = Math.min(...words.map(word => text.search(word)).filter(at => at >= 0), text.length)
  const from = first === text.length ? 0 : Math.max(0, text.lastIndexOf(' ', first - 40))
  const cut = text.slice(from, from + 160)
  const isWhole = from + 160 >= text.length
  const shown = isWhole ? cut : `${cut.slice(0, cut.lastIndexOf(' '))} …`
  const line = document.createElement('p')
  const pattern = new RegExp(`(${words.map(({ source }) => source).join('|')})`, 'i')
  for (const [at, part] of shown.split(pattern).entries()) {
    const place = at % 2 === 0 ? line : line.appendChild(document.createElement('mark'))
    place.append(part)
  }
  return line
}

function result([name, title, heading, anchor, text], words) {
  const link = document.createElement('a')
  link.href = new URL(name + (anchor && `#${anchor}`), base).href
  const head = document.createElement('strong')
  head.textContent = heading === title ? title : `${title}: ${heading}`
  link.append(head, excerpt(text, words))
  return link
}

async function search(field, list) {
  const query = field.value
  const words = query.split(/\s+/).filter(Boolean).map(patternOf)
  if (words.length === 0) {
    list.hidden = true
    list.replaceChildren()
    return
  }
  let shown
  try {
    const found = (await loadEntries())
      .map(entry => ({ entry, rank: score(entry, words) }))
      .filter(({ rank }) => rank > 0)
      .sort((a, b) => b.rank - a.rank)
      .slice(0, maxResults)
    shown = found.map(({ entry }) => result(entry, words))
  } catch {
    shown = ['The search could not be loaded. Check the connection to the server.']
  }
  // The query has changed since.
  if (field.value !== query) return
  list.replaceChildren(...(shown.length > 0 ? shown : [`No results for “${query.trim()}”.`]))
  list.hidden = false
}

document.addEventListener('DOMContentLoaded', () => {
  const field = document.querySelector('input[type=search]')
  const list = document.querySelector('#found')
  document.querySelector('search').hidden = false
  // On a narrow screen the list of topics would stand before every text.
  const narrow = matchMedia('(max-width: 52rem)')
  const topics = document.querySelector('.contents details')
  const fold = () => {
    topics.open = !narrow.matches
  }
  fold()
  narrow.addEventListener('change', fold)

  field.addEventListener('input', () => search(field, list))
  field.addEventListener('keydown', event => {
    // Who is quicker than the index is led there once it is loaded.
    if (event.key === 'Enter') search(field, list).then(() => list.querySelector('a')?.click())
    if (event.key === 'ArrowDown') list.querySelector('a')?.focus()
  })
  document.addEventListener('keydown', event => {
    const isTyping = event.target instanceof HTMLInputElement
    if (event.key === '/' && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault()
      field.focus()
    }
    if (event.key === 'Escape' && !list.hidden) {
      list.hidden = true
      field.focus()
    }
  })
  // A heading of the same page: the list would cover it.
  list.addEventListener('click', () => {
    list.hidden = true
  })
  document.addEventListener('click', event => {
    if (!event.target.closest('search')) list.hidden = true
  })
})

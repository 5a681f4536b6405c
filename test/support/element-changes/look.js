/** What a snippet would tell of a page's elements. `capture.ts` runs this in a browser, as it stands. */

const testIdAttributes = ['data-testid', 'data-test', 'data-test-id', 'data-cy', 'data-qa']

const implicitRoles = { A: 'link', BUTTON: 'button', INPUT: 'searchbox' }

const textOf = element => element.innerText?.trim() || undefined

function testIdOf(element) {
  const attr = testIdAttributes.find(name => element.hasAttribute(name))
  return attr ? { attr, value: element.getAttribute(attr) } : undefined
}

/** Its place among the siblings of its tag. */
function placeOf(element) {
  const siblings = [...(element.parentElement?.children ?? [element])]
  return siblings.filter(({ tagName }) => tagName === element.tagName).indexOf(element)
}

function ancestorsOf(element) {
  const ancestors = []
  for (let up = element.parentElement; up && ancestors.length < 5; up = up.parentElement) {
    ancestors.push({
      tag: up.tagName,
      id: up.id || undefined,
      role: up.getAttribute('role') ?? undefined,
      testId: testIdOf(up)?.value,
      nth: placeOf(up),
    })
  }
  return ancestors
}

function nameOf(root, element) {
  const label = element.id ? root.querySelector(`label[for="${element.id}"]`) : null
  return (
    element.getAttribute('aria-label') ??
    (label && textOf(label)) ??
    textOf(element) ??
    element.getAttribute('placeholder') ??
    undefined
  )
}

/** The first element that `selector` finds; `matchCount` is how many `target` finds. */
function look(root, selector, target) {
  const element = root.querySelector(selector)
  if (!element) return null
  const { x, y, width, height } = element.getBoundingClientRect()
  return {
    selector,
    matchCount: root.querySelectorAll(target).length,
    tag: element.tagName,
    id: element.id || undefined,
    testId: testIdOf(element),
    name: nameOf(root, element),
    role: element.getAttribute('role') ?? implicitRoles[element.tagName],
    ariaLabel: element.getAttribute('aria-label') ?? undefined,
    text: textOf(element),
    classes: [...element.classList],
    attributes: Object.fromEntries([...element.attributes].map(({ name, value }) => [name, value])),
    ancestors: ancestorsOf(element),
    nthOfType: placeOf(element),
    rect: { x, y, width, height },
  }
}

/** A selector that finds one control alone, by a name that it has, else by its path. */
function selectorOf(root, element) {
  const isAlone = selector => root.querySelectorAll(selector).length === 1
  const named = ['data-testid', 'data-test', 'id', 'aria-label', 'name']
    .filter(name => element.hasAttribute(name))
    .map(name => `[${name}="${element.getAttribute(name)}"]`)
  const path = []
  for (
    let at = element;
    at.parentElement && !isAlone(path.join('>') || '*');
    at = at.parentElement
  ) {
    const isOnly = at.parentElement.querySelectorAll(`:scope > ${at.tagName}`).length === 1
    const nth = isOnly ? '' : `:nth-of-type(${placeOf(at) + 1})`
    path.unshift(`${at.tagName.toLowerCase()}${nth}`)
  }
  return named.find(isAlone) ?? path.join('>')
}

function show(html) {
  const frame = document.createElement('iframe')
  frame.width = '1280'
  frame.height = '720'
  frame.srcdoc = `<!doctype html><body>${html}</body>`
  return new Promise(resolve => {
    frame.onload = () => resolve(frame.contentDocument)
    document.body.append(frame)
  })
}

/** Every change one after the other, each page in a frame of its own. */
async function capture(changes) {
  const prints = {}
  for (const [name, { target, before, after, element = target }] of Object.entries(changes)) {
    const [old, now] = [await show(before), await show(after)]
    const controls = [...now.querySelectorAll('button, a, input')].slice(0, 20)
    prints[name] = {
      before: look(old, target, target),
      after: element === null ? null : look(now, element, target),
      candidates: controls.map(control => {
        const selector = selectorOf(now, control)
        return look(now, selector, selector)
      }),
    }
    for (const frame of document.querySelectorAll('iframe')) frame.remove()
  }
  return prints
}

globalThis.capture = capture

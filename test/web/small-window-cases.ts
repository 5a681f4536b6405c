import { flowOf } from './stage.ts'

/** Small windows, and steps that must stay readable and usable in them. */

export const sizes = [
  { width: 320, height: 256 },
  { width: 320, height: 200 },
  { width: 568, height: 256 },
  { width: 640, height: 200 },
]

const title = 'title: Export your orders'
const body = `body: "${'Choose the columns, then the days, then the format. '.repeat(6)}"`
const long = 'title: Export all the orders of your customers since the beginning'
const target = 'target: { selector: "#in" }'
const buttons =
  'buttons: [{ label: Not now, action: dismiss }, { label: Read more about it, action: complete }, { label: Show me around, action: next }]'
const media = 'media: { image: /picture.svg, width: 640, height: 320 }'

const steps: Record<string, string> = {
  tooltip: `${title}, ${body}, ${target}`,
  'tooltip with a long title': `${long}, ${body}, ${target}`,
  'tooltip with three buttons': `${title}, ${body}, ${target}, ${buttons}`,
  'tooltip with an image': `${title}, ${body}, ${target}, ${media}`,
  window: `kind: modal, ${title}, ${body}, ${buttons}`,
  'window with an image': `kind: modal, ${title}, ${body}, ${media}`,
  card: `kind: slideout, ${title}, ${body}`,
  banner: `kind: banner, ${title}, ${body}, ${buttons}`,
  'banner that pushes': `kind: banner, banner: { layout: push }, ${title}, ${body}`,
}

const flows = Object.entries(steps).map(([name, step]) => [name, flowOf(`[{ key: a, ${step} }]`)])

/** The steps that do not show their title, two lines of text and every button. */
export const wrong = `(async () => {
  const found = []
  for (const [name, flow] of ${JSON.stringify(flows)}) {
    clear()
    fill('<h1>App</h1><button id=in>In</button><div style="height: 900px"></div>')
    show(flow)
    while (title() === null) await new Promise(requestAnimationFrame)
    const root = document.querySelector('[data-cairn]').shadowRoot
    const parts = selector => [...root.querySelectorAll('.card ' + selector)]
    const boxOf = selector => parts(selector)[0].getBoundingClientRect()
    let [last, still] = ['', 0]
    while (still < 3) {
      await new Promise(requestAnimationFrame)
      const now = JSON.stringify([boxOf('.inner'), boxOf('.foot')])
      still = now === last ? still + 1 : 0
      last = now
    }
    await Promise.all(root.getAnimations().map(one => one.finished.catch(() => {})))
    const [inner, foot] = [boxOf('.inner'), boxOf('.foot')]
    const bottom = Math.min(inner.bottom, foot.top)
    const seen = ({ top, bottom: end }) => Math.min(end, bottom) - Math.max(top, inner.top, 0)
    if (seen(boxOf('h2')) < boxOf('h2').height - 1) found.push(name + ': title')
    if (seen(boxOf('.body')) < 2 * 20) found.push(name + ': text, ' + Math.round(seen(boxOf('.body'))))
    for (const button of parts('button')) {
      const { left, top, right, bottom } = button.getBoundingClientRect()
      const hit = root.elementFromPoint((left + right) / 2, (top + bottom) / 2)
      const isInside = left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight
      if (!isInside || !button.contains(hit)) found.push(name + ': ' + (button.textContent || 'Close'))
    }
  }
  return found
})()`

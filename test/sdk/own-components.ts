import { createApp, defineComponent, h } from 'vue'
import { createCairnPlugin, useChecklist, useLauncher } from '../../src/sdk/vue/index.ts'

/** An application that draws lists and resource centres with components of its own. */

const Launcher = defineComponent(() => {
  const launcher = useLauncher('centre')
  const other = useLauncher('other')
  return () => {
    const shown = launcher.value
    if (other.value || !shown) return h('p', other.value ? 'wrong launcher' : 'no launcher')
    const { actions, items, isOpen, unread } = shown
    const press = (key: string) => ({ type: 'button', onClick: () => actions.choose(key) })
    return h('section', { 'aria-label': shown.flow.title }, [
      h('button', { type: 'button', onClick: () => actions.toggle() }, `Help (${unread})`),
      ...(isOpen ? items.map(({ key, title }) => h('button', press(key), title)) : []),
    ])
  }
})

const Checklist = defineComponent(() => {
  const checklist = useChecklist()
  return () => {
    const list = checklist.value
    if (!list) return h('p', 'no list')
    const items = list.items.map(({ key, title, isDone }) =>
      h('button', { type: 'button', onClick: () => list.actions.open(key) }, [
        `${isDone ? 'Done: ' : ''}${title}`,
      ]),
    )
    return h('section', { 'aria-label': `${list.progress.percent} %` }, items)
  }
})

const { url = '', key = '' } = document.body.dataset
createApp(() => [h(Launcher), h(Checklist)])
  .use(createCairnPlugin({ url, key, headless: true }))
  .mount('#app')

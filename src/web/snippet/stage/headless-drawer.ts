import type { Answer, ButtonData, FlowData, StepActions, StepData } from '../api.ts'
import type { Button, Choice, Flow, Item, StepView } from '../parts.ts'
import { safely } from '../safely.ts'
import type { StageDeps } from '../stage.ts'
import { progressIn } from '../standing.ts'
import { warn } from '../warn.ts'
import { choiceOf } from './draw-card.ts'
import type { ChecklistState } from './draw-checklist.ts'
import type { Drawer } from './drawer.ts'
import { spoken } from './spoken.ts'

/**
 * Draws nothing, but tells the page what to draw and what a person can do with it. The page's components
 * can do no harm: they get copies, and actions that come too late are ignored.
 */
export function createTeller({
  page,
  tell,
  locale,
}: Pick<StageDeps, 'page' | 'tell' | 'locale'>): Drawer {
  const copy = <Of>(of: unknown) => structuredClone(of) as Of

  /** @returns what takes the step back, unless another one was sent by then */
  let latest = 0
  const tellStep = (
    { flow, step, place, of }: Pick<StepView, 'flow' | 'step' | 'place' | 'of'>,
    more: { hasBack: boolean; element: Element | null; isElsewhere: boolean },
    choose: (choice: Choice) => void,
  ) => {
    const mine = ++latest
    const act = (choice: Choice) => {
      if (mine === latest) safely(() => choose(choice))
    }
    const answered = (choice: Choice, answer?: Answer) =>
      act(answer === undefined ? choice : { ...choice, answer })
    const press = (button: ButtonData, answer?: Answer) =>
      answered(choiceOf(button as Button, page), answer)
    const actions: StepActions = {
      press,
      answer: answer => answered({ type: 'next' }, answer),
      next: () => act({ type: 'next' }),
      back: () => act({ type: 'back' }),
      complete: () => act({ type: 'complete' }),
      dismiss: () => act({ type: 'dismiss' }),
      skip: () => act({ type: 'skip' }),
      link: href => press({ label: '', action: 'link', href }),
    }
    const shown = { flow: copy<FlowData>(flow), step: copy<StepData>(step), place, of }
    tell('step', { ...shown, ...more, actions })
    return {
      pointAt(element: Element) {
        if (mine === latest) tell('step', { ...shown, ...more, element, actions })
      },
      isInUse: () => false,
      remove() {
        if (mine === latest) tell('step', null)
        latest++
      },
    }
  }

  return {
    step: ({ choose, hasBack, element, ...view }) =>
      tellStep(view, { hasBack, element, isElsewhere: false }, choose),
    elsewhere: ({ end, href, goThere, ...view }) =>
      tellStep(view, { hasBack: false, element: null, isElsewhere: true }, ({ type }) => {
        if (type === 'dismiss') end()
        else if (type === 'next' && href && !goThere(href)) page.location.assign(href)
      }),
    checklist(own: Flow, actions) {
      const { flow } = spoken(own, page, locale)
      const items = flow.checklist?.items ?? []
      let state: ChecklistState | null = null
      const canTick = (item: Item) =>
        item.completeOn === null && state?.isTicked(item.id) === false && state.isOpenTo(item)
      const use = (key: string, act: (item: Item) => void) => {
        const item = items.find(other => other.key === key)
        if (!item) warn(`the checklist has no item "${key}"`)
        else if (state) safely(() => act(item))
      }
      const data = copy<FlowData>(flow)
      return {
        draw(now) {
          state = now
          const shown = items.map(item => ({
            id: item.id,
            key: item.key,
            title: item.title,
            description: item.description,
            href: item.href,
            flow: item.flow ?? null,
            isDone: now.isTicked(item.id),
            canTick: canTick(item),
          }))
          const done = shown.filter(({ isDone }) => isDone).length
          tell('checklist', {
            flow: data,
            items: shown,
            progress: progressIn(done, items.length),
            isOpen: now.isOpen,
            isHidden: now.isHidden,
            actions: {
              tick: key => use(key, item => canTick(item) && actions.tick(item)),
              open: key => use(key, item => state?.isOpenTo(item) && actions.open(item)),
              toggle: (isOpen = !state?.isOpen) => state && safely(() => actions.toggle(isOpen)),
              dismiss: () => state && safely(actions.dismiss),
            },
          })
        },
        sayDone: () => {},
        remove() {
          if (state) tell('checklist', null)
          state = null
        },
      }
    },
    launcher(_, own, actions) {
      let isSent = false
      return {
        draw({ offers, ...state }) {
          const { flow } = spoken(own, page, locale)
          const wordsOf = new Map(flow.launcher?.items.map(item => [item.id, item]))
          isSent = true
          tell('launcher', {
            ...state,
            flow: copy<FlowData>(flow),
            items: offers.map(({ item, starts, announcements }) => ({
              id: item.id,
              key: item.key,
              title: wordsOf.get(item.id)?.title ?? item.title,
              description: wordsOf.get(item.id)?.description ?? null,
              href: item.href,
              starts: starts ? { flowKey: item.flow as string, ...starts } : null,
              announcements:
                announcements?.map(({ flow: { key, publishedAt }, title, isUnread }) => ({
                  ...{ flowKey: key, title, publishedAt, isUnread },
                })) ?? null,
            })),
            actions: {
              toggle: (isOpen = !state.isOpen) => isSent && safely(() => actions.toggle(isOpen)),
              choose(key, announcementKey) {
                const offer = offers.find(({ item }) => item.key === key)
                if (!offer) return warn(`the launcher has no item "${key}"`)
                const listed = offer.announcements?.find(({ flow }) => flow.key === announcementKey)
                // An announcement is chosen from its list.
                if (!offer.announcements || listed) {
                  safely(() => actions.choose(offer.item, listed?.flow))
                }
              },
            },
          })
        },
        remove() {
          if (isSent) tell('launcher', null)
          isSent = false
        },
      }
    },
  }
}

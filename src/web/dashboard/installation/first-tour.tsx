import { may } from '../api/session.ts'
import { Publish } from '../authoring/publish.tsx'
import type { AuthoredFlow } from '../flows/flow-list.ts'
import { LinkButton } from '../parts/button.tsx'
import { Part } from '../parts/part.tsx'
import { addressOf } from '../shell/address.ts'
import { TemplateCards } from '../templates/cards.tsx'
import { templates } from '../templates/templates.ts'
import { InstallCode } from './install-code.tsx'
import { hasEvents, type Installation, publishedAmong } from './state.ts'
import { type Tick, Ticks } from './ticks.tsx'

/** What most teams begin with. */
const firstGoals = ['welcome-tour', 'checklist', 'feature-announcement']

const Goals = () =>
  may('flows:write') ? (
    <>
      <TemplateCards templates={templates.filter(({ id }) => firstGoals.includes(id))} />
      <p>
        <a href={addressOf(['flows', 'new'])}>All goals</a>
      </p>
    </>
  ) : (
    <p class="hint">A colleague with the role of editor can create the first flow.</p>
  )

/** The first path of an organisation, from the tag to a flow that is seen on a page. Each step ticks by itself. */
export default function FirstTour({
  flows,
  installation,
}: {
  flows: readonly AuthoredFlow[]
  installation: Installation
}) {
  const [first] = flows
  const isPublished = publishedAmong(flows).length > 0
  const ticks: Tick[] = [
    {
      title: 'Add the snippet to your pages',
      isDone: installation.installed,
      how: <InstallCode of={installation} />,
      since: <p class="hint">Your pages load flows.</p>,
    },
    {
      title: 'Choose a goal',
      isDone: first !== undefined,
      how: <Goals />,
      since: first && (
        <p class="hint">
          <a href={addressOf(['flows', first.key, 'edit'])}>Edit “{first.name}”</a>
        </p>
      ),
    },
    {
      title: 'Publish',
      isDone: isPublished,
      how: first ? (
        <div class="stack gap-2">
          <p class="hint">Visitors see “{first.name}” on their next page.</p>
          <div class="row">
            <Publish flow={first} />
            <LinkButton href={addressOf(['flows', first.key, 'edit'])}>Edit first</LinkButton>
          </div>
        </div>
      ) : (
        <p class="hint">Review what visitors will see, then publish it.</p>
      ),
    },
    {
      title: 'See it on your page',
      isDone: hasEvents(installation),
      how: (
        <p class="hint">
          {isPublished
            ? 'Open a page that has the snippet. A page that was open before may need a minute and a reload.'
            : 'Open a page that has the snippet, once a flow is published.'}
        </p>
      ),
    },
  ]
  return (
    <Part title="Your first flow" beside={<span class="hint">Each step ticks by itself.</span>}>
      <Ticks ticks={ticks} />
    </Part>
  )
}

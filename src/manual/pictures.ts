import assistantDark from './pictures/assistant-dark.webp' with { type: 'file' }
import assistantLight from './pictures/assistant-light.webp' with { type: 'file' }
import builderDark from './pictures/builder-dark.webp' with { type: 'file' }
import builderLight from './pictures/builder-light.webp' with { type: 'file' }
import healthDark from './pictures/health-dark.webp' with { type: 'file' }
import healthLight from './pictures/health-light.webp' with { type: 'file' }
import launcherDark from './pictures/launcher-dark.webp' with { type: 'file' }
import launcherLight from './pictures/launcher-light.webp' with { type: 'file' }
import overviewDark from './pictures/overview-dark.webp' with { type: 'file' }
import overviewLight from './pictures/overview-light.webp' with { type: 'file' }
import peopleDark from './pictures/people-dark.webp' with { type: 'file' }
import peopleLight from './pictures/people-light.webp' with { type: 'file' }
import resultsDark from './pictures/results-dark.webp' with { type: 'file' }
import resultsLight from './pictures/results-light.webp' with { type: 'file' }
import tourDark from './pictures/tour-dark.webp' with { type: 'file' }
import tourLight from './pictures/tour-light.webp' with { type: 'file' }

/** Where the manual's pictures are, by the names in its pages. `scripts/dashboard pictures` makes them. */
export const pictures: ReadonlyMap<string, string> = new Map([
  ['assistant-dark.webp', assistantDark],
  ['assistant-light.webp', assistantLight],
  ['builder-dark.webp', builderDark],
  ['builder-light.webp', builderLight],
  ['health-dark.webp', healthDark],
  ['health-light.webp', healthLight],
  ['launcher-dark.webp', launcherDark],
  ['launcher-light.webp', launcherLight],
  ['overview-dark.webp', overviewDark],
  ['overview-light.webp', overviewLight],
  ['people-dark.webp', peopleDark],
  ['people-light.webp', peopleLight],
  ['results-dark.webp', resultsDark],
  ['results-light.webp', resultsLight],
  ['tour-dark.webp', tourDark],
  ['tour-light.webp', tourLight],
])

import healthDark from './pictures/health-dark.webp' with { type: 'file' }
import healthLight from './pictures/health-light.webp' with { type: 'file' }
import overviewDark from './pictures/overview-dark.webp' with { type: 'file' }
import overviewLight from './pictures/overview-light.webp' with { type: 'file' }
import resultsDark from './pictures/results-dark.webp' with { type: 'file' }
import resultsLight from './pictures/results-light.webp' with { type: 'file' }

/** Where the manual's pictures are, by the names in its pages. `scripts/dashboard pictures` makes them. */
export const pictures: ReadonlyMap<string, string> = new Map([
  ['health-dark.webp', healthDark],
  ['health-light.webp', healthLight],
  ['overview-dark.webp', overviewDark],
  ['overview-light.webp', overviewLight],
  ['results-dark.webp', resultsDark],
  ['results-light.webp', resultsLight],
])

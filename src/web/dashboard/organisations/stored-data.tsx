import { Facts } from '../parts/facts.tsx'

/** What Cairn stores about people. */
export const StoredData = () => (
  <>
    <h3>What is stored about people</h3>
    <Facts
      of={[
        [
          'Stored',
          'The user ID or browser ID that you send, and what the person saw: flows, steps, times, pages and your own events.',
        ],
        ['Never stored', 'What people type, cookies, or IP addresses of visitors.'],
        ['Page addresses', 'Without their query and fragment, unless the snippet keeps queries.'],
        ['Traits', 'Used in the browser to choose flows. Listed traits are stored with each run.'],
        ['Erasure', 'Removes a person from every file. Totals stay, without the name.'],
      ]}
    />
  </>
)

import type { Report } from './report.ts'

type Named = Report['organisation']

const longestName = 60

/**
 * The name of an organisation in a mail that nobody has asked for. Mail programs make links of anything that
 * looks like an address, so such a name is no way to have Cairn mail one to strangers.
 */
const nameIn = ({ name, slug }: Named) =>
  name.length > longestName || /[\p{C}/:@]|\.\S/u.test(name) ? slug : name

export const confirmationSubject = (organisation: Named) =>
  `Confirm that you want weekly reports of ${nameIn(organisation)}`

export const confirmationText = (organisation: Named, link: string) => `\
Somebody at ${nameIn(organisation)} wants Cairn to mail you a report every week.

If you want it, confirm within 7 days:
${link}

Otherwise ignore this mail. You get no reports unless you confirm.
`

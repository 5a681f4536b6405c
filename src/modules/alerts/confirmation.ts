import type { Report } from './report.ts'

type Named = Report['organisation']

const maxNameLength = 60

/**
 * The name of an organisation in a mail that nobody has asked for. Mail programs make links of anything that
 * looks like an address, so such a name is no way to have Cairn mail one to strangers.
 */
const nameIn = ({ name, slug }: Named) =>
  name.length > maxNameLength || /[\p{C}/:@]|\.\S/u.test(name) ? slug : name

export const confirmationSubject = (organisation: Named) =>
  `Confirm that you want weekly reports of ${nameIn(organisation)}`

export const confirmationText = (organisation: Named, link: string) => `\
${nameIn(organisation)} added this address to its weekly report from Cairn.

To receive the report, confirm within 7 days:
${link}

If you do not want it, ignore this email. You get no reports unless you confirm.
`

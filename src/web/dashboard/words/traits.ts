/** Texts about the traits that an organisation lists. */
export const traitWords = {
  why: 'Pages say traits of people with identify(). They stay in the browser, but for those listed here: of these Cairn keeps the value with each run that starts from then on, so that results can be told by them.',
  none: 'None is listed: no trait leaves a browser.',
  label: 'Traits',
  hint: 'One a line, at most eight, by the names that your pages use: plan, or company.size for one inside another.',
  warning:
    'What is listed is stored of people, as text of at most 64 characters. List what many people share, such as plan or role; never a name, an e-mail address or an id.',
  personal: (traits: string) =>
    `${traits} may say who somebody is. It would make personal data of every run.`,
  title: 'Change which traits are kept',
  change: 'Change traits',
  added: 'Runs that start from now on are counted by:',
  removed: (traits: string) =>
    `No longer sent by pages or shown in results: ${traits}. What is stored of runs stays until their people are erased.`,
  saved: (count: number) =>
    count === 0
      ? 'No trait leaves a browser now.'
      : `${count} ${count === 1 ? 'trait is' : 'traits are'} listed now.`,
  atLine: (trait: string, message: string) => `“${trait}”: ${message}.`,
  manual: 'What is sent, and when',
}

/** The message where a question must be answered, by language. */
const answerFirst: Readonly<Record<string, string>> = {
  en: 'Please answer first.',
  ar: 'يُرجى الإجابة أولاً.',
  de: 'Bitte zuerst antworten.',
  es: 'Responde primero, por favor.',
  fr: 'Merci de répondre d’abord.',
  he: 'יש לענות תחילה.',
  it: 'Prima rispondi, per favore.',
  ja: '先にお答えください。',
  nl: 'Geef eerst antwoord.',
  pl: 'Najpierw odpowiedz.',
  pt: 'Responda primeiro, por favor.',
  zh: '请先作答。',
}

/** @param language the card's; English if it is none of these */
export const answerFirstIn = (language: string): string =>
  answerFirst[language.slice(0, 2).toLowerCase()] ?? answerFirst.en!

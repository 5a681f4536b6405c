/** A launcher's words that nothing else needs. */
export interface LauncherWords {
  /** A number of announcements, for the button's name and above the list. */
  unread: (count: number) => string
  isNew: string
  /** There are no announcements. */
  nothing: string
  showAll: (count: number) => string
}

const words = (unread: string, isNew: string, nothing: string, showAll: string): LauncherWords => ({
  unread: count => unread.replace('#', `${count}`),
  isNew,
  nothing,
  showAll: count => showAll.replace('#', `${count}`),
})

const english = words('# unread', 'New', 'Nothing new yet', 'Show all (#)')

const byLanguage: Readonly<Record<string, LauncherWords>> = {
  en: english,
  ar: words('# غير مقروءة', 'جديد', 'لا جديد بعد', 'عرض الكل (#)'),
  de: words('# ungelesen', 'Neu', 'Noch nichts Neues', 'Alle anzeigen (#)'),
  es: words('# sin leer', 'Nuevo', 'Aún no hay novedades', 'Ver todo (#)'),
  fr: words('# non lus', 'Nouveau', 'Rien de nouveau', 'Tout afficher (#)'),
  he: words('# שלא נקראו', 'חדש', 'אין חדש עדיין', 'הצגת הכול (#)'),
  it: words('# da leggere', 'Nuovo', 'Ancora nessuna novità', 'Mostra tutto (#)'),
  ja: words('未読#件', '新着', '新しいお知らせはありません', 'すべて表示（#）'),
  nl: words('# ongelezen', 'Nieuw', 'Nog niets nieuws', 'Alles tonen (#)'),
  pl: words('Nieprzeczytane: #', 'Nowe', 'Na razie nic nowego', 'Pokaż wszystko (#)'),
  pt: words('# por ler', 'Novo', 'Nada de novo ainda', 'Mostrar tudo (#)'),
  zh: words('#条未读', '新', '暂无新消息', '显示全部（#）'),
}

/** @param language the panel's; English if it is none of these */
export const launcherWordsIn = (language: string): LauncherWords =>
  byLanguage[language.slice(0, 2).toLowerCase()] ?? english

/** The snippet's own words, for steps whose author gave no buttons, and for those who hear the page. */
export interface Words {
  next: string
  back: string
  done: string
  skip: string
  close: string
  /** Place and number of steps. */
  of: (place: number, all: number) => string
  open: string
  hide: string
  /** Of a checklist. */
  allDone: string
}

const words = (
  next: string,
  back: string,
  done: string,
  skip: string,
  close: string,
  open: string,
  hide: string,
  allDone: string,
  of = '/',
): Words => ({
  next,
  back,
  done,
  skip,
  close,
  open,
  hide,
  allDone,
  of: (place, all) => `${place} ${of} ${all}`,
})

const english = words(
  'Next',
  'Back',
  'Done',
  'Skip',
  'Close',
  'Open',
  'Hide this list',
  'All done',
  'of',
)

const byLanguage: Readonly<Record<string, Words>> = {
  en: english,
  ar: words('التالي', 'السابق', 'تم', 'تخطٍ', 'إغلاق', 'فتح', 'إخفاء القائمة', 'اكتمل كل شيء', 'من'),
  de: words(
    'Weiter',
    'Zurück',
    'Fertig',
    'Überspringen',
    'Schließen',
    'Öffnen',
    'Liste ausblenden',
    'Alles erledigt',
    'von',
  ),
  es: words(
    'Siguiente',
    'Atrás',
    'Listo',
    'Omitir',
    'Cerrar',
    'Abrir',
    'Ocultar la lista',
    'Todo listo',
    'de',
  ),
  fr: words(
    'Suivant',
    'Retour',
    'Terminer',
    'Passer',
    'Fermer',
    'Ouvrir',
    'Masquer la liste',
    'Tout est fait',
    'sur',
  ),
  he: words(
    'הבא',
    'הקודם',
    'סיום',
    'דילוג',
    'סגירה',
    'פתיחה',
    'הסתרת הרשימה',
    'הכול הושלם',
    'מתוך',
  ),
  it: words(
    'Avanti',
    'Indietro',
    'Fine',
    'Salta',
    'Chiudi',
    'Apri',
    "Nascondi l'elenco",
    'Tutto fatto',
    'di',
  ),
  ja: words('次へ', '戻る', '完了', 'スキップ', '閉じる', '開く', 'リストを隠す', 'すべて完了'),
  nl: words(
    'Volgende',
    'Terug',
    'Klaar',
    'Overslaan',
    'Sluiten',
    'Openen',
    'Lijst verbergen',
    'Alles klaar',
    'van',
  ),
  pl: words(
    'Dalej',
    'Wstecz',
    'Gotowe',
    'Pomiń',
    'Zamknij',
    'Otwórz',
    'Ukryj listę',
    'Wszystko gotowe',
    'z',
  ),
  pt: words(
    'Seguinte',
    'Voltar',
    'Concluir',
    'Pular',
    'Fechar',
    'Abrir',
    'Ocultar a lista',
    'Tudo pronto',
    'de',
  ),
  zh: words('下一步', '返回', '完成', '跳过', '关闭', '打开', '隐藏列表', '全部完成'),
}

/** In the page's language; English where it is none of these. */
export function wordsFor({ document, navigator }: Window): Words {
  const language = document.documentElement.lang || navigator.language
  return byLanguage[language.slice(0, 2).toLowerCase()] ?? english
}

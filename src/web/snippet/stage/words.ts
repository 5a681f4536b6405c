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
  /** Of a tour whose next step is for another page. */
  elsewhere: string
  goThere: string
  endTour: string
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
  elsewhere: string,
  goThere: string,
  endTour: string,
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
  elsewhere,
  goThere,
  endTour,
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
  'The tour continues on another page.',
  'Go there',
  'End the tour',
  'of',
)

/** By the language's code. */
export const byLanguage: Readonly<Record<string, Words>> = {
  en: english,
  ar: words(
    'التالي',
    'السابق',
    'تم',
    'تخطٍ',
    'إغلاق',
    'فتح',
    'إخفاء القائمة',
    'اكتمل كل شيء',
    'تستمر الجولة في صفحة أخرى.',
    'الانتقال إليها',
    'إنهاء الجولة',
    'من',
  ),
  de: words(
    'Weiter',
    'Zurück',
    'Fertig',
    'Überspringen',
    'Schließen',
    'Öffnen',
    'Liste ausblenden',
    'Alles erledigt',
    'Die Tour geht auf einer anderen Seite weiter.',
    'Dorthin',
    'Tour beenden',
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
    'El recorrido sigue en otra página.',
    'Ir allí',
    'Terminar',
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
    'La visite continue sur une autre page.',
    'Y aller',
    'Quitter la visite',
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
    'הסיור ממשיך בדף אחר.',
    'מעבר לשם',
    'סיום הסיור',
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
    "Il tour continua in un'altra pagina.",
    'Vai lì',
    'Termina il tour',
    'di',
  ),
  ja: words(
    '次へ',
    '戻る',
    '完了',
    'スキップ',
    '閉じる',
    '開く',
    'リストを隠す',
    'すべて完了',
    'ツアーは別のページで続きます。',
    'そのページへ',
    'ツアーを終了',
  ),
  nl: words(
    'Volgende',
    'Terug',
    'Klaar',
    'Overslaan',
    'Sluiten',
    'Openen',
    'Lijst verbergen',
    'Alles klaar',
    'De rondleiding gaat verder op een andere pagina.',
    'Ga erheen',
    'Stoppen',
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
    'Przewodnik prowadzi dalej na innej stronie.',
    'Przejdź tam',
    'Zakończ',
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
    'O tour continua em outra página.',
    'Ir para lá',
    'Encerrar o tour',
    'de',
  ),
  zh: words(
    '下一步',
    '返回',
    '完成',
    '跳过',
    '关闭',
    '打开',
    '隐藏列表',
    '全部完成',
    '导览将在另一个页面继续。',
    '前往',
    '结束导览',
  ),
}

/** In the page's language; English where it is none of these. */
export function wordsFor({ document, navigator }: Window): Words {
  const language = document.documentElement.lang || navigator.language
  return byLanguage[language.slice(0, 2).toLowerCase()] ?? english
}

import type { Translation } from './catalog.ts'
import type { emailsEnglish } from './emails.en.ts'

export const emailsGerman = {
  hello: 'Guten Tag {{name}},',
  helloNobody: 'Guten Tag,',
  account: 'Konto öffnen',
  accountSignIn: 'Über den Link melden Sie sich an. Er gilt {{duration}}.',
  sentBecause: 'Sie erhalten diese E-Mail, weil Sie Kunde von {{name}} sind.',
  unsubscribe: 'Solche Hinweise abbestellen',
  product: 'Produkt',
  plan: 'Tarif',
  amount: 'Betrag',
  date: 'Datum',
  receiptSubject: 'Ihr Beleg von {{name}}: {{amount}}',
  receiptTitle: 'Vielen Dank für Ihre Zahlung',
  receiptText: 'Wir haben Ihre Zahlung von {{amount}} am {{date}} erhalten.',
  receiptAttached: 'Der Beleg liegt als PDF bei.',
  receiptInvoice: 'Rechnung',
  receiptCard: 'Bezahlt mit',
  renewalSubject: '{{plan}} verlängert sich am {{date}}',
  renewalTitle: 'Ihr Tarif verlängert sich bald',
  renewalText: '{{plan}} verlängert sich am {{date}} für {{amount}}.',
  renewalAction:
    'Sie müssen nichts tun. Um den Tarif zu wechseln oder zu kündigen, öffnen Sie vor diesem Tag Ihr Konto.',
  trialSubject: 'Ihre Testphase von {{plan}} endet am {{date}}',
  trialTitle: 'Ihre Testphase endet bald',
  trialText: 'Ihre Testphase von {{plan}} endet am {{date}}. Danach kostet er {{amount}}.',
  trialTextFree: 'Ihre Testphase von {{plan}} endet am {{date}}.',
  trialAction:
    'Sie müssen nichts tun, wenn die Karte in Ihrem Konto gültig ist. Um den Tarif zu wechseln oder zu kündigen, öffnen Sie vor diesem Tag Ihr Konto.',
  failedSubject: 'Ihre Zahlung an {{name}} ist fehlgeschlagen',
  failedTitle: 'Eine Zahlung ist fehlgeschlagen',
  failedText: 'Wir konnten Ihre Karte für {{plan}} nicht belasten.',
  failedRetry: 'Wir versuchen es am {{date}} erneut.',
  failedPaused: '{{plan}} ist pausiert, weil eine Zahlung fehlt.',
  failedTopUp: 'Wir konnten Ihre Karte für das automatische Aufladen Ihrer Credits nicht belasten.',
  failedAction: 'Prüfen Sie die Karte in Ihrem Konto, oder speichern Sie eine andere.',
  changedSubject: 'Ihr Tarif ist jetzt {{plan}}',
  changedTitle: 'Ihr Tarif hat sich geändert',
  changedText: 'Ihr Tarif für {{product}} ist jetzt {{plan}}.',
  changedTextFrom: 'Ihr Tarif für {{product}} hat von {{before}} zu {{plan}} gewechselt.',
  changedAction: 'Falls Sie das nicht erwartet haben, öffnen Sie Ihr Konto oder schreiben Sie uns.',
  budgetSubject: 'Ihr Budget für {{product}} ist aufgebraucht',
  budgetTitle: 'Ihr Budget ist aufgebraucht',
  budgetText:
    'Die Nutzung von {{product}} hat in diesem Zeitraum {{amount}} gekostet. Ihr Budget beträgt {{budget}}.',
  budgetStop:
    'Weitere Nutzung wird abgelehnt, bis der Zeitraum am {{date}} endet oder Sie das Budget erhöhen.',
  budgetWarn: 'Die Nutzung geht weiter. Sie können das Budget in Ihrem Konto ändern.',
  expirySubject_one: '{{count}} Credit verfällt am {{date}}',
  expirySubject_other: '{{count}} Credits verfallen am {{date}}',
  expiryTitle: 'Credits verfallen bald',
  expiryText_one:
    '{{count}} Credit in Ihrem Konto verfällt am {{date}}. Verbrauchen Sie ihn vor diesem Tag.',
  expiryText_other:
    '{{count}} Credits in Ihrem Konto verfallen am {{date}}. Verbrauchen Sie sie vor diesem Tag.',
  unsubscribeTitle: 'Hinweise abbestellen?',
  unsubscribeText:
    '{{address}} erhält dann von {{name}} keine Hinweise mehr zu Budgets und verfallenden Credits. Belege und andere E-Mails zu Ihrem Tarif und Ihren Zahlungen erhalten Sie weiterhin.',
  unsubscribeButton: 'Abbestellen',
  unsubscribedTitle: 'Die Hinweise sind abbestellt',
  unsubscribedText: 'Sie erhalten keine dieser Hinweise mehr.',
} satisfies Translation<typeof emailsEnglish>

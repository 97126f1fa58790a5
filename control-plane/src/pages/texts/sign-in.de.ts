import type { Translation } from './catalog.ts'
import type { signInEnglish } from './sign-in.en.ts'

export const signInGerman = {
  title: 'Anmelden',
  titleWith: 'Bei {{name}} anmelden',
  emailText: 'Wir senden einen Code an Ihre E-Mail-Adresse. Sie brauchen kein Passwort.',
  email: 'E-Mail-Adresse',
  emailInvalid: 'Geben Sie eine E-Mail-Adresse ein, zum Beispiel ada@example.com.',
  sendCode: 'Code senden',
  codeTitle: 'Code eingeben',
  codeSent: 'Wir haben einen Code an {{email}} gesendet. Er gilt 10 Minuten.',
  codeSentShared:
    'Für diese Adresse wurden mehrmals Codes angefordert. Geben Sie den 16-stelligen Code aus der E-Mail ein, die wir in der letzten Stunde an {{email}} gesendet haben.',
  codeInbox: 'Diese Installation versendet keine E-Mails: {{inbox}} zeigt die Nachricht.',
  codeInboxLink: 'Der Posteingang dieses Rechners',
  code: 'Code',
  codeWrong: 'Der Code ist falsch. Prüfen Sie ihn und versuchen Sie es erneut.',
  codeEnded:
    'Der Code ist abgelaufen oder wurde zu oft falsch eingegeben. Fordern Sie einen neuen an.',
  signIn: 'Anmelden',
  otherEmail: 'Andere E-Mail-Adresse verwenden',
  signedInAs: 'Angemeldet als {{email}}',
  or: 'oder',
  continueWith: 'Weiter mit {{name}}',
  leavingText:
    'Sie werden zu {{name}} weitergeleitet. Falls nichts geschieht, verwenden Sie die Schaltfläche.',
  upstreamDenied:
    'Sie haben die Anmeldung mit {{name}} nicht zugelassen. Versuchen Sie es erneut, oder melden Sie sich mit einem Code an.',
  upstreamUnverified:
    'Ihre E-Mail-Adresse ist bei {{name}} nicht bestätigt. Bestätigen Sie sie dort, oder melden Sie sich mit einem Code an.',
  upstreamTaken:
    'Mit dieser E-Mail-Adresse ist ein anderes Konto bei {{name}} verknüpft. Verwenden Sie dieses Konto, oder melden Sie sich mit einem Code an.',
  upstreamFailed:
    '{{name}} konnte die Anmeldung nicht abschließen. Versuchen Sie es später erneut, oder melden Sie sich mit einem Code an.',
  consentTitle: '{{client}} zulassen?',
  consentText: '{{client}} möchte {{name}} für Sie nutzen. Die Nutzung zählt zu Ihrem Tarif.',
  clientUnnamed: 'Eine Anwendung ohne Namen',
  clientPublisher: 'Veröffentlicht von',
  clientUnverified: 'Selbst registriert: Niemand hat den Namen geprüft',
  clientRedirect: 'Führt Sie zu',
  redirectLocal: 'Eine Anwendung auf diesem Rechner',
  localWarning:
    'Lassen Sie dies nur zu, wenn Sie gerade eine Anwendung auf diesem Rechner verbinden.',
  clientMay: 'Darf sehen',
  scopeOpenid: 'Dass Sie Kunde sind',
  scopeProfile: 'Ihren Namen',
  scopeEmail: 'Ihre E-Mail-Adresse',
  allow: 'Zulassen',
  refuse: 'Nicht zulassen',
  connectCheckoutTitle: 'Weiter zur Kasse?',
  connectTopUpTitle: 'Weiter zum Kauf von Guthaben?',
  connectPortalTitle: 'Weiter zu Ihrem Konto?',
  connectText: 'Eine Anwendung, die Sie nutzen, hat Ihnen diesen Link gegeben.',
  connect: 'Weiter',
  invalidTitle: 'Diese Anfrage ist nicht gültig',
  invalidText:
    'Beginnen Sie in Ihrer Anwendung neu. Wenn das nicht hilft, teilen Sie ihren Entwicklern mit, was hier steht:',
  mailSubject: '{{code}} ist Ihr Code für {{name}}',
  mailText:
    '{{code}} ist Ihr Code für die Anmeldung bei {{name}}. Er gilt 10 Minuten.\n\nGeben Sie ihn niemandem. Wenn Sie ihn nicht angefordert haben, ignorieren Sie diese Nachricht.',
  mailTextShared:
    '{{code}} ist Ihr Code für die Anmeldung bei {{name}}. Er gilt eine Stunde, in jedem Browser, in dem Ihre E-Mail-Adresse eingegeben wird.\n\nGeben Sie ihn niemandem. Für Ihre Adresse wurden mehrmals Codes angefordert, vielleicht von jemand anderem. Bis dieser Code abgelaufen ist, senden wir Ihnen keinen weiteren.',
} satisfies Translation<typeof signInEnglish>

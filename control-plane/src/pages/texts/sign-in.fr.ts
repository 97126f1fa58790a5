import type { Translation } from './catalog.ts'
import type { signInEnglish } from './sign-in.en.ts'

export const signInFrench = {
  title: 'Connexion',
  titleWith: 'Connexion à {{name}}',
  emailText: 'Nous envoyons un code à votre adresse e-mail. Aucun mot de passe n’est nécessaire.',
  email: 'Adresse e-mail',
  emailInvalid: 'Saisissez une adresse e-mail, par exemple ada@example.com.',
  sendCode: 'Envoyer le code',
  codeTitle: 'Saisissez le code',
  codeSent: 'Nous avons envoyé un code à {{email}}. Il est valable 10 minutes.',
  codeSentShared:
    'Des codes ont été demandés plusieurs fois pour cette adresse. Saisissez le code à 16 chiffres de l’e-mail que nous avons envoyé à {{email}} au cours de la dernière heure.',
  codeInbox: 'Cette installation n’envoie pas d’e-mails : {{inbox}} affiche le message.',
  codeInboxLink: 'la boîte de réception de cet ordinateur',
  code: 'Code',
  codeWrong: 'Le code est incorrect. Vérifiez-le et réessayez.',
  codeEnded: 'Le code a expiré ou a été mal saisi trop de fois. Demandez-en un nouveau.',
  signIn: 'Se connecter',
  otherEmail: 'Utiliser une autre adresse e-mail',
  signedInAs: 'Connecté en tant que {{email}}',
  or: 'ou',
  continueWith: 'Continuer avec {{name}}',
  leavingText: 'Vous allez être redirigé vers {{name}}. Si rien ne se passe, utilisez le bouton.',
  upstreamDenied:
    'Vous n’avez pas autorisé la connexion avec {{name}}. Réessayez ou connectez-vous avec un code.',
  upstreamUnverified:
    'Votre adresse e-mail n’est pas vérifiée chez {{name}}. Vérifiez-la là-bas ou connectez-vous avec un code.',
  upstreamTaken:
    'Un autre compte {{name}} est associé à cette adresse e-mail. Utilisez ce compte ou connectez-vous avec un code.',
  upstreamFailed:
    '{{name}} n’a pas pu terminer la connexion. Réessayez plus tard ou connectez-vous avec un code.',
  consentTitle: 'Autoriser {{client}} ?',
  consentText:
    '{{client}} demande à utiliser {{name}} pour vous. Son utilisation compte dans votre formule.',
  clientUnnamed: 'Une application sans nom',
  clientPublisher: 'Publiée par',
  clientUnverified: 'Enregistrée par elle-même : personne n’a vérifié son nom',
  clientRedirect: 'Vous mène à',
  redirectLocal: 'Une application sur cet ordinateur',
  localWarning:
    'N’autorisez que si vous êtes en train de connecter une application sur cet ordinateur.',
  clientMay: 'Peut voir',
  scopeOpenid: 'Que vous êtes client',
  scopeProfile: 'Votre nom',
  scopeEmail: 'Votre adresse e-mail',
  allow: 'Autoriser',
  refuse: 'Ne pas autoriser',
  connectCheckoutTitle: 'Continuer vers le paiement ?',
  connectTopUpTitle: 'Continuer vers l’achat de crédits ?',
  connectPortalTitle: 'Continuer vers votre compte ?',
  connectText: 'Une application que vous utilisez vous a donné ce lien.',
  connect: 'Continuer',
  invalidTitle: 'Cette demande n’est pas valable',
  invalidText:
    'Recommencez dans votre application. Si cela n’aide pas, indiquez à ses auteurs ce qui suit :',
  mailSubject: '{{code}} est votre code pour {{name}}',
  mailText:
    '{{code}} est votre code de connexion à {{name}}. Il est valable 10 minutes.\n\nNe le donnez à personne. Si vous ne l’avez pas demandé, ignorez ce message.',
  mailTextShared:
    '{{code}} est votre code de connexion à {{name}}. Il est valable une heure, dans tout navigateur où votre adresse e-mail est saisie.\n\nNe le donnez à personne. Des codes ont été demandés plusieurs fois pour votre adresse, peut-être par quelqu’un d’autre. Tant que ce code n’a pas expiré, nous ne vous en envoyons pas d’autre.',
} satisfies Translation<typeof signInEnglish>

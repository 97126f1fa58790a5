import type { Translation } from './catalog.ts'
import type { emailsEnglish } from './emails.en.ts'

export const emailsFrench = {
  hello: 'Bonjour {{name}},',
  helloNobody: 'Bonjour,',
  account: 'Ouvrir votre compte',
  accountSignIn: 'Le lien vous demande de vous connecter. Il est valable {{duration}}.',
  sentBecause: 'Vous recevez cet e-mail parce que vous êtes client de {{name}}.',
  unsubscribe: 'Ne plus recevoir ces avis',
  product: 'Produit',
  plan: 'Formule',
  amount: 'Montant',
  date: 'Date',
  receiptSubject: 'Votre reçu de {{name}} : {{amount}}',
  receiptTitle: 'Merci pour votre paiement',
  receiptText: 'Nous avons reçu votre paiement de {{amount}} le {{date}}.',
  receiptAttached: 'Le reçu est joint au format PDF.',
  receiptInvoice: 'Facture',
  receiptCard: 'Payé avec',
  renewalSubject: '{{plan}} sera renouvelé le {{date}}',
  renewalTitle: 'Votre formule sera bientôt renouvelée',
  renewalText: '{{plan}} sera renouvelé le {{date}} pour {{amount}}.',
  renewalAction:
    'Vous n’avez rien à faire. Pour changer de formule ou la résilier, ouvrez votre compte avant ce jour.',
  trialSubject: 'Votre essai de {{plan}} se termine le {{date}}',
  trialTitle: 'Votre essai se termine bientôt',
  trialText: 'Votre essai de {{plan}} se termine le {{date}}. Ensuite, le prix est de {{amount}}.',
  trialTextFree: 'Votre essai de {{plan}} se termine le {{date}}.',
  trialAction:
    'Vous n’avez rien à faire si la carte de votre compte est valable. Pour changer de formule ou la résilier, ouvrez votre compte avant ce jour.',
  failedSubject: 'Votre paiement à {{name}} a échoué',
  failedTitle: 'Un paiement a échoué',
  failedText: 'Nous n’avons pas pu débiter votre carte pour {{plan}}.',
  failedRetry: 'Nous réessaierons le {{date}}.',
  failedPaused: '{{plan}} est suspendu, car un paiement manque.',
  failedTopUp:
    'Nous n’avons pas pu débiter votre carte pour la recharge automatique de vos crédits.',
  failedAction: 'Vérifiez la carte dans votre compte, ou enregistrez-en une autre.',
  changedSubject: 'Votre formule est maintenant {{plan}}',
  changedTitle: 'Votre formule a changé',
  changedText: 'Votre formule pour {{product}} est maintenant {{plan}}.',
  changedTextFrom: 'Votre formule pour {{product}} est passée de {{before}} à {{plan}}.',
  changedAction: 'Si vous ne vous y attendiez pas, ouvrez votre compte ou écrivez-nous.',
  termsSubject: 'Les conditions de {{plan}} ont changé',
  termsTitle: 'Vos conditions ont changé',
  termsText: 'De nouvelles conditions de {{plan}} s’appliquent à vous pour {{product}}.',
  changeWithdrawnSubject: 'Votre formule pour {{product}} ne change pas',
  changeWithdrawnTitle: 'Votre formule reste la même',
  changeWithdrawnText:
    'Le changement annoncé de votre formule pour {{product}} n’aura pas lieu. Vous gardez {{plan}} aux conditions actuelles.',
  changeAheadSubject: 'Votre formule pour {{product}} change le {{date}}',
  changeAheadTitle: 'Votre formule va changer',
  changeAheadText: 'Votre formule pour {{product}} devient {{plan}} le {{date}}.',
  termsAheadText:
    'À partir du {{date}}, de nouvelles conditions de {{plan}} s’appliquent pour {{product}}.',
  changeAheadAction:
    'Si vous n’êtes pas d’accord, vous pouvez résilier ou choisir une autre formule avant cette date.',
  budgetSubject: 'Votre budget pour {{product}} est épuisé',
  budgetTitle: 'Votre budget est épuisé',
  budgetText:
    'L’utilisation de {{product}} a coûté {{amount}} pendant cette période. Votre budget est de {{budget}}.',
  budgetStop:
    'Toute autre utilisation est refusée jusqu’à la fin de la période, le {{date}}, ou jusqu’à ce que vous augmentiez le budget.',
  budgetWarn: 'L’utilisation continue. Vous pouvez modifier le budget dans votre compte.',
  expirySubject_one: '{{count}} crédit expire le {{date}}',
  expirySubject_many: '{{count}} de crédits expirent le {{date}}',
  expirySubject_other: '{{count}} crédits expirent le {{date}}',
  expiryTitle: 'Des crédits expirent bientôt',
  expiryText_one: '{{count}} crédit de votre compte expire le {{date}}. Utilisez-le avant ce jour.',
  expiryText_many:
    '{{count}} de crédits de votre compte expirent le {{date}}. Utilisez-les avant ce jour.',
  expiryText_other:
    '{{count}} crédits de votre compte expirent le {{date}}. Utilisez-les avant ce jour.',
  unsubscribeTitle: 'Ne plus recevoir ces avis ?',
  unsubscribeText:
    '{{address}} ne recevra plus d’avis de {{name}} sur les budgets et les crédits qui expirent. Les reçus et les autres e-mails sur votre formule et vos paiements restent envoyés.',
  unsubscribeButton: 'Se désabonner',
  unsubscribedTitle: 'Vous êtes désabonné',
  unsubscribedText: 'Vous ne recevrez plus ces avis.',
} satisfies Translation<typeof emailsEnglish>

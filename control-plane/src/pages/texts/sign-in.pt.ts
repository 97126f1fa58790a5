import type { Translation } from './catalog.ts'
import type { signInEnglish } from './sign-in.en.ts'

export const signInPortuguese = {
  title: 'Entrar',
  titleWith: 'Entrar em {{name}}',
  emailText: 'Enviamos um código para o seu e-mail. Você não precisa de senha.',
  email: 'Endereço de e-mail',
  emailInvalid: 'Digite um endereço de e-mail, como ada@example.com.',
  sendCode: 'Enviar código',
  codeTitle: 'Digite o código',
  codeSent: 'Enviamos um código para {{email}}. Ele vale por 10 minutos.',
  codeSentShared:
    'Códigos foram pedidos várias vezes para este endereço. Digite o código de 16 dígitos do e-mail que enviamos para {{email}} na última hora.',
  codeInbox: 'Esta instalação não envia e-mails: {{inbox}} mostra a mensagem.',
  codeInboxLink: 'a caixa de entrada desta máquina',
  code: 'Código',
  codeWrong: 'O código está incorreto. Confira e tente novamente.',
  codeEnded: 'O código expirou ou foi digitado errado vezes demais. Peça um novo.',
  signIn: 'Entrar',
  otherEmail: 'Usar outro endereço de e-mail',
  signedInAs: 'Conectado como {{email}}',
  or: 'ou',
  continueWith: 'Continuar com {{name}}',
  leavingText: 'Você está sendo levado a {{name}}. Se nada acontecer, use o botão.',
  upstreamDenied:
    'Você não permitiu a entrada com {{name}}. Tente novamente ou entre com um código.',
  upstreamUnverified:
    'Seu endereço de e-mail não está verificado em {{name}}. Verifique-o lá ou entre com um código.',
  upstreamTaken:
    'Outra conta de {{name}} está vinculada a este endereço de e-mail. Use essa conta ou entre com um código.',
  upstreamFailed:
    '{{name}} não conseguiu concluir a entrada. Tente mais tarde ou entre com um código.',
  consentTitle: 'Permitir {{client}}?',
  consentText: '{{client}} pede para usar {{name}} por você. O uso conta no seu plano.',
  clientUnnamed: 'Um aplicativo sem nome',
  clientPublisher: 'Publicado por',
  clientUnverified: 'Registrado por si mesmo: ninguém verificou o nome',
  clientRedirect: 'Leva você para',
  redirectLocal: 'Um aplicativo nesta máquina',
  localWarning: 'Permita somente se você acabou de conectar um aplicativo nesta máquina.',
  clientMay: 'Pode ver',
  scopeOpenid: 'Que você é cliente',
  scopeProfile: 'Seu nome',
  scopeEmail: 'Seu endereço de e-mail',
  allow: 'Permitir',
  refuse: 'Não permitir',
  connectCheckoutTitle: 'Continuar para o pagamento?',
  connectTopUpTitle: 'Continuar para comprar créditos?',
  connectPortalTitle: 'Continuar para a sua conta?',
  connectText: 'Um aplicativo que você usa lhe deu este link.',
  connect: 'Continuar',
  invalidTitle: 'Este pedido não é válido',
  invalidText:
    'Comece de novo no seu aplicativo. Se isso não ajudar, informe aos autores o seguinte:',
  mailSubject: '{{code}} é o seu código para {{name}}',
  mailText:
    '{{code}} é o seu código para entrar em {{name}}. Ele vale por 10 minutos.\n\nNão o dê a ninguém. Se você não o pediu, ignore esta mensagem.',
  mailTextShared:
    '{{code}} é o seu código para entrar em {{name}}. Ele vale por uma hora, em qualquer navegador em que o seu e-mail seja digitado.\n\nNão o dê a ninguém. Códigos foram pedidos várias vezes para o seu endereço, talvez por outra pessoa. Até este código expirar, não enviaremos outro.',
} satisfies Translation<typeof signInEnglish>

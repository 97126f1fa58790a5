import type { Translation } from './catalog.ts'
import type { signInEnglish } from './sign-in.en.ts'

export const signInSpanish = {
  title: 'Iniciar sesión',
  titleWith: 'Iniciar sesión en {{name}}',
  emailText: 'Enviamos un código a su correo electrónico. No necesita contraseña.',
  email: 'Correo electrónico',
  emailInvalid: 'Introduzca un correo electrónico, por ejemplo ada@example.com.',
  sendCode: 'Enviar código',
  codeTitle: 'Introduzca el código',
  codeSent: 'Hemos enviado un código a {{email}}. Es válido durante 10 minutos.',
  codeSentShared:
    'Se han solicitado códigos para esta dirección varias veces. Introduzca el código de 16 cifras del correo que enviamos a {{email}} durante la última hora.',
  codeInbox: 'Esta instalación no envía correos: {{inbox}} muestra el mensaje.',
  codeInboxLink: 'la bandeja de entrada de este equipo',
  code: 'Código',
  codeWrong: 'El código es incorrecto. Compruébelo e inténtelo de nuevo.',
  codeEnded: 'El código ha caducado o se introdujo mal demasiadas veces. Solicite uno nuevo.',
  signIn: 'Iniciar sesión',
  otherEmail: 'Usar otro correo electrónico',
  signedInAs: 'Sesión iniciada como {{email}}',
  or: 'o',
  continueWith: 'Continuar con {{name}}',
  leavingText: 'Le llevamos a {{name}}. Si no ocurre nada, use el botón.',
  upstreamDenied:
    'No ha permitido el inicio de sesión con {{name}}. Inténtelo de nuevo o inicie sesión con un código.',
  upstreamUnverified:
    'Su dirección de correo no está verificada en {{name}}. Verifíquela allí o inicie sesión con un código.',
  upstreamTaken:
    'Otra cuenta de {{name}} está vinculada a esta dirección de correo. Use esa cuenta o inicie sesión con un código.',
  upstreamFailed:
    '{{name}} no ha podido completar el inicio de sesión. Inténtelo más tarde o inicie sesión con un código.',
  consentTitle: '¿Permitir {{client}}?',
  consentText: '{{client}} solicita usar {{name}} en su nombre. Su uso cuenta en su plan.',
  clientUnnamed: 'Una aplicación sin nombre',
  clientPublisher: 'Publicada por',
  clientUnverified: 'Registrada por sí misma: nadie ha comprobado su nombre',
  clientRedirect: 'Le lleva a',
  redirectLocal: 'Una aplicación en este equipo',
  localWarning: 'Permítalo solo si acaba de conectar una aplicación en este equipo.',
  clientMay: 'Puede ver',
  scopeOpenid: 'Que usted es cliente',
  scopeProfile: 'Su nombre',
  scopeEmail: 'Su correo electrónico',
  allow: 'Permitir',
  refuse: 'No permitir',
  connectCheckoutTitle: '¿Continuar al pago?',
  connectTopUpTitle: '¿Continuar a la compra de créditos?',
  connectPortalTitle: '¿Continuar a su cuenta?',
  connectText: 'Una aplicación que usted usa le dio este enlace.',
  connect: 'Continuar',
  invalidTitle: 'Esta solicitud no es válida',
  invalidText:
    'Empiece de nuevo en su aplicación. Si eso no ayuda, indique a sus autores lo siguiente:',
  mailSubject: '{{code}} es su código para {{name}}',
  mailText:
    '{{code}} es su código para iniciar sesión en {{name}}. Es válido durante 10 minutos.\n\nNo se lo dé a nadie. Si no lo solicitó, ignore este mensaje.',
  mailTextShared:
    '{{code}} es su código para iniciar sesión en {{name}}. Es válido durante una hora, en cualquier navegador en el que se introduzca su correo electrónico.\n\nNo se lo dé a nadie. Se han solicitado códigos para su dirección varias veces, quizá por otra persona. Hasta que este código caduque, no le enviaremos otro.',
} satisfies Translation<typeof signInEnglish>

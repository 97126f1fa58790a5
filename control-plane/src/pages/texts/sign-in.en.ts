export const signInEnglish = {
  // The forms for the email address and for the code.
  title: 'Sign in',
  titleWith: 'Sign in at {{name}}',
  emailText: 'We send a code to your email address. You need no password.',
  email: 'Email address',
  emailInvalid: 'Enter an email address, such as ada@example.com.',
  sendCode: 'Send code',
  codeTitle: 'Enter the code',
  codeSent: 'We sent a code to {{email}}. It is valid for 10 minutes.',
  codeSentShared:
    'Codes were requested for this address several times. Enter the 16-digit code of the email that we sent to {{email}} within the last hour.',
  codeInbox: 'This installation sends no email: {{inbox}} shows the message.',
  codeInboxLink: 'the inbox of this machine',
  code: 'Code',
  codeWrong: 'The code is incorrect. Check it and try again.',
  codeEnded: 'The code has expired, or was entered incorrectly too often. Request a new one.',
  signIn: 'Sign in',
  otherEmail: 'Use another email address',
  signedInAs: 'Signed in as {{email}}',
  // Sign-in with an account at an upstream.
  or: 'or',
  continueWith: 'Continue with {{name}}',
  leavingText: 'You are being redirected to {{name}}. If nothing happens, use the button.',
  upstreamDenied: 'You did not allow the sign-in with {{name}}. Try again, or sign in with a code.',
  upstreamUnverified:
    'Your email address at {{name}} is not verified. Verify it there, or sign in with a code.',
  upstreamTaken:
    'Another account at {{name}} is linked to this email address. Use that account, or sign in with a code.',
  upstreamFailed:
    '{{name}} could not complete the sign-in. Try again later, or sign in with a code.',
  // The consent page for a client.
  consentTitle: 'Allow {{client}}?',
  consentText: '{{client}} asks to use {{name}} for you. What it does counts under your plan.',
  clientUnnamed: 'An application without a name',
  clientPublisher: 'Published by',
  clientUnverified: 'Registered by itself: nobody has checked its name',
  clientRedirect: 'Leads you to',
  redirectLocal: 'An application on this machine',
  localWarning: 'Allow it only if you just started to connect an application on this machine.',
  clientMay: 'May see',
  scopeOpenid: 'That you are a customer',
  scopeProfile: 'Your name',
  scopeEmail: 'Your email address',
  allow: 'Allow',
  refuse: 'Do not allow',
  // The page of a link from an application.
  connectCheckoutTitle: 'Continue to the checkout?',
  connectTopUpTitle: 'Continue to buy credits?',
  connectPortalTitle: 'Continue to your account?',
  connectText: 'An application that you use gave you this link.',
  connect: 'Continue',
  // The problem page for an invalid request of a client.
  invalidTitle: 'This request is not valid',
  invalidText:
    'Start again in your application. If that does not help, tell its makers what it says here:',
  // The email with the code.
  mailSubject: '{{code}} is your code for {{name}}',
  mailText:
    '{{code}} is your code to sign in at {{name}}. It is valid for 10 minutes.\n\nGive it to nobody. If you did not request it, ignore this message.',
  mailTextShared:
    '{{code}} is your code to sign in at {{name}}. It is valid for an hour, in every browser in which your email address is entered.\n\nGive it to nobody. Codes were requested for your address several times, perhaps by somebody else. Until this code has expired, we send you no further one.',
} as const

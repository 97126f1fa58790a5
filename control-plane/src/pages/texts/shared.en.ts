export const sharedEnglish = {
  requests_one: '{{count}} request',
  requests_other: '{{count}} requests',
  accountWith: 'Your account with {{name}}',
  tryAgain: 'Try again',
} as const

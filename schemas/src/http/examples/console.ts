import {
  cliSessionAnsweredSchema,
  cliSessionCompleteSchema,
  cliSessionExchangeSchema,
  cliSessionOpenedSchema,
} from '../cli-sessions.ts'
import {
  environmentSwitchSchema,
  passwordChangeSchema,
  passwordSetResponseSchema,
  passwordSetSchema,
  signedInSchema,
  signedInUserSchema,
  signedOutSchema,
  signInResponseSchema,
  signInSchema,
  type SignedInBody,
} from '../console-auth.ts'
import {
  consoleUserInviteSchema,
  consoleUserRemovedSchema,
  consoleUserSchema,
  consoleUsersResponseSchema,
  consoleUserUpdateSchema,
  passwordLinkSchema,
  type ConsoleUserBody,
} from '../console-users.ts'
import { examplesOf } from './example.ts'
import { hosted, instants, refs } from './story.ts'

const owner: ConsoleUserBody = {
  userId: refs.user,
  email: 'mary@acme.example',
  name: 'Mary Jackson',
  role: 'owner',
  status: 'active',
  createdAt: instants.created,
}
const invited: ConsoleUserBody = {
  userId: 'usr_8QN3VX6TK2BM',
  email: 'katherine@acme.example',
  role: 'admin',
  status: 'invited',
  createdAt: instants.now,
}
const linkToken = 'Zm9yIGV4YW1wbGUgb25seSwgdGhpcyBvcGVucyBubw0'
const passwordLink = {
  url: `${hosted}/console/set-password#token=${linkToken}`,
  expiresAt: '2026-03-17T08:15:30.125Z',
}

const provider = { providerId: refs.provider, name: 'Acme' }
const { status: _, createdAt: __, ...user } = owner
const who = {
  user,
  provider: { ...provider, isLive: true },
  environment: 'sandbox',
  expiresAt: '2026-03-14T20:15:30.125Z',
} as const
const signedIn: SignedInBody = {
  status: 'signed_in',
  accessToken: 'tgc_Zm9yIGV4YW1wbGUgb25seSwgdGhpcyBpcyBubyB0b2tlbg',
  ...who,
}
const password = 'correct horse battery staple'
const signedInAnswer = examplesOf(signedInSchema, { 'Signed in': signedIn })
const linkAnswer = examplesOf(passwordLinkSchema, {
  'To be passed on': { user: invited, passwordLink },
})
const answered = examplesOf(cliSessionAnsweredSchema, { Answered: { success: true } })

export const consoleExamples = {
  signIn: {
    body: examplesOf(signInSchema, {
      'To the sandbox': { email: owner.email, password },
      'To live, of one of several providers': {
        email: owner.email,
        password,
        environment: 'live',
        providerId: refs.provider,
      },
    }),
    answer: examplesOf(signInResponseSchema, {
      'Signed in': signedIn,
      'Which provider?': {
        status: 'choose_provider',
        providers: [provider, { providerId: 'prv_6TX1NQ8KW4ZB', name: 'Acme Labs' }],
      },
    }),
  },
  setPassword: {
    body: examplesOf(passwordSetSchema, {
      'With the token of a link': { token: linkToken, password },
    }),
    answer: examplesOf(passwordSetResponseSchema, {
      Set: { success: true, email: invited.email },
    }),
  },
  changePassword: {
    body: examplesOf(passwordChangeSchema, {
      Change: { currentPassword: password, newPassword: 'a much longer one than before' },
    }),
    answer: signedInAnswer,
  },
  getSignedInUser: { answer: examplesOf(signedInUserSchema, { Mary: who }) },
  switchEnvironment: {
    body: examplesOf(environmentSwitchSchema, { 'To live': { environment: 'live' } }),
    answer: examplesOf(signedInSchema, { 'In live': { ...signedIn, environment: 'live' } }),
  },
  signOut: { answer: examplesOf(signedOutSchema, { 'Signed out': { success: true } }) },
  listUsers: {
    answer: examplesOf(consoleUsersResponseSchema, {
      'One of them is yet to come': { users: [owner, invited] },
    }),
  },
  inviteUser: {
    body: examplesOf(consoleUserInviteSchema, {
      'An admin': { email: invited.email, role: 'admin' },
    }),
    answer: linkAnswer,
  },
  updateUser: {
    body: examplesOf(consoleUserUpdateSchema, { 'Looks only': { role: 'member' } }),
    answer: examplesOf(consoleUserSchema, { 'Looks only': { ...invited, role: 'member' } }),
  },
  removeUser: { answer: examplesOf(consoleUserRemovedSchema, { Removed: { success: true } }) },
  createPasswordLink: { answer: linkAnswer },
  openCliSession: {
    answer: examplesOf(cliSessionOpenedSchema, {
      Opened: {
        sessionId: refs.session,
        authUrl: `${hosted}/console/cli/${refs.session}`,
        pollToken: 'cG9sbCB0b2tlbiBmb3IgdGhlIGV4YW1wbGUgb25seQ',
        userCode: '092B-4D6E',
      },
    }),
  },
  exchangeCliSession: {
    answer: examplesOf(cliSessionExchangeSchema, {
      'Not answered yet': { status: 'pending' },
      Answered: {
        status: 'complete',
        secretKey: 'sk_sandbox_00000000000000000000000000000000000000000000x7Qd',
        email: owner.email,
        environment: 'sandbox',
      },
    }),
  },
  completeCliSession: {
    body: examplesOf(cliSessionCompleteSchema, {
      'A key for the sandbox': { environment: 'sandbox' },
    }),
    answer: answered,
  },
  cancelCliSession: { answer: answered },
}

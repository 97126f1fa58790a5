import { NativeSelect, TextInput } from '@mantine/core'
import { useState, type ReactElement } from 'react'
import { consoleRoles, type ConsoleRole } from '@tollgate/schemas/console-roles'
import { Action, ActionForm, type Dialog } from '../parts/action.tsx'
import { showChanged } from '../parts/show-changed.ts'
import { ToCopy } from '../parts/to-copy.tsx'
import { useApi } from '../session/environment-api.tsx'
import { useRefusal, useUser, type SignedInUser } from '../session/user.ts'
import { changeRefusal, roleRefusal } from './change-refusal.ts'
import type { Member } from './member.ts'

type Props = { readonly member: Member }

const linkText =
  'Send this link to the person, who sets a password with it. It works once, and is not shown again.'

export function InviteMember(): ReactElement {
  return (
    <Action label="Invite a person" showsSecret refusal={useRefusal('manage')}>
      {(dialog) => <InviteForm {...dialog} />}
    </Action>
  )
}

function InviteForm({ idempotencyKey, close }: Dialog): ReactElement {
  const { hooks } = useApi()
  const { user } = useUser()
  const [email, setEmail] = useState('')
  const [role, setRole] = useState<ConsoleRole>('member')
  const change = hooks.useMutation('post', '/v1/ui/users')
  if (change.data !== undefined) {
    return <ToCopy text={linkText} value={change.data.passwordLink.url} />
  }
  return (
    <ActionForm
      text="Creates a link with which the person sets a password. No email is sent."
      submitLabel="Create the link"
      change={change}
      close={close}
      onSubmit={() => {
        change.mutate({ body: { email, role }, headers: { 'Idempotency-Key': idempotencyKey } })
      }}
    >
      <TextInput
        label="Email"
        type="email"
        required
        value={email}
        onChange={(event) => {
          setEmail(event.currentTarget.value)
        }}
        data-autofocus
      />
      <RoleSelect
        role={role}
        onChange={setRole}
        refusalOf={(each) => changeRefusal([user], user, { kind: 'invite', role: each })}
      />
    </ActionForm>
  )
}

const roleTexts: Readonly<Record<ConsoleRole, string>> = {
  owner: 'Owner: can also appoint owners',
  admin: 'Admin: can change everything',
  member: 'Member: can only view',
}

function RoleSelect(props: {
  readonly role: ConsoleRole
  readonly onChange: (role: ConsoleRole) => void
  /** Returns the reason why the role cannot be chosen, or undefined. */
  readonly refusalOf: (role: ConsoleRole) => string | undefined
}): ReactElement {
  const { role, onChange, refusalOf } = props
  const refusals = consoleRoles.map(refusalOf)
  return (
    <NativeSelect
      label="Role"
      description={refusals.find((each) => each !== undefined)}
      value={role}
      onChange={(event) => {
        const chosen = consoleRoles.find((each) => each === event.currentTarget.value)
        if (chosen !== undefined) onChange(chosen)
      }}
      data={consoleRoles.map((value, index) => ({
        ...{ value, label: roleTexts[value], disabled: refusals[index] !== undefined },
      }))}
    />
  )
}

/** Returns the signed-in user and all users, by which the API decides about changes of users. */
function useMembers(): { readonly user: SignedInUser['user']; readonly users: readonly Member[] } {
  const { hooks } = useApi()
  const { user } = useUser()
  return { user, users: hooks.useSuspenseQuery('get', '/v1/ui/users', {}).data.users }
}

/** Shows what can be done about a member. What the API would refuse is disabled, with the reason. */
export function MemberActions({ member }: Props): ReactElement {
  const { user, users } = useMembers()
  const refusal = useRefusal('manage')
  const { userId, email } = member
  return (
    <>
      <Action
        label="Role"
        title={`Role of ${email}`}
        refusal={refusal ?? roleRefusal(users, user, member)}
      >
        {(dialog) => <RoleForm member={member} {...dialog} />}
      </Action>
      <Action
        label="Password link"
        title={`Password of ${email}`}
        showsSecret
        refusal={refusal ?? changeRefusal(users, user, { kind: 'send-link', userId })}
      >
        {(dialog) => <LinkForm member={member} {...dialog} />}
      </Action>
      <Action
        label="Remove"
        title={`Remove ${email}`}
        refusal={refusal ?? changeRefusal(users, user, { kind: 'remove', userId })}
      >
        {(dialog) => <RemoveForm member={member} {...dialog} />}
      </Action>
    </>
  )
}

function RoleForm({ member, idempotencyKey, close }: Props & Dialog): ReactElement {
  const { hooks } = useApi()
  const { user, users } = useMembers()
  const [role, setRole] = useState<ConsoleRole>(member.role)
  const change = hooks.useMutation('patch', '/v1/ui/users/{userId}', {
    onSuccess: () => {
      showChanged(`${member.email} is ${role} now.`)
      close()
    },
  })
  return (
    <ActionForm
      text="The role applies at once, in the sandbox and live."
      submitLabel="Save"
      change={change}
      close={close}
      onSubmit={() => {
        change.mutate({
          params: { path: { userId: member.userId } },
          body: { role },
          headers: { 'Idempotency-Key': idempotencyKey },
        })
      }}
    >
      <RoleSelect
        role={role}
        onChange={setRole}
        refusalOf={(each) =>
          changeRefusal(users, user, { kind: 'update', userId: member.userId, role: each })
        }
      />
    </ActionForm>
  )
}

function LinkForm({ member, idempotencyKey, close }: Props & Dialog): ReactElement {
  const { hooks } = useApi()
  const change = hooks.useMutation('post', '/v1/ui/users/{userId}/password-link')
  if (change.data !== undefined) {
    return <ToCopy text={linkText} value={change.data.passwordLink.url} />
  }
  return (
    <ActionForm
      text="Creates a link with which the person sets a new password. The current password works until then."
      submitLabel="Create the link"
      change={change}
      close={close}
      onSubmit={() => {
        change.mutate({
          params: { path: { userId: member.userId } },
          headers: { 'Idempotency-Key': idempotencyKey },
        })
      }}
    />
  )
}

function RemoveForm({ member, close }: Props & Dialog): ReactElement {
  const { hooks } = useApi()
  const change = hooks.useMutation('delete', '/v1/ui/users/{userId}', {
    onSuccess: () => {
      showChanged(`${member.email} is removed.`)
      close()
    },
  })
  return (
    <ActionForm
      text="The person is signed out everywhere, and can no longer sign in. API keys that the person created keep working."
      submitLabel="Remove the person"
      isDangerous
      change={change}
      close={close}
      onSubmit={() => {
        change.mutate({ params: { path: { userId: member.userId } } })
      }}
    />
  )
}

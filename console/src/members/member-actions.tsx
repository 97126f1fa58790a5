import { NativeSelect, TextInput } from '@mantine/core'
import { useState, type ReactElement } from 'react'
import { consoleRoles, type ConsoleRole } from '@tollgate/schemas/console-roles'
import { Action, ActionForm, type Dialog } from '../parts/action.tsx'
import { showChanged } from '../parts/show-changed.ts'
import { ToCopy } from '../parts/to-copy.tsx'
import { useApi } from '../session/environment-api.tsx'
import { useRefusal } from '../session/user.ts'
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
      <RoleSelect role={role} onChange={setRole} />
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
}): ReactElement {
  return (
    <NativeSelect
      label="Role"
      value={props.role}
      onChange={(event) => {
        const role = consoleRoles.find((each) => each === event.currentTarget.value)
        if (role !== undefined) props.onChange(role)
      }}
      data={consoleRoles.map((value) => ({ value, label: roleTexts[value] }))}
    />
  )
}

/** Shows what can be done about a member. The API refuses what the role of the signed-in user does not allow. */
export function MemberActions({ member }: Props): ReactElement {
  const refusal = useRefusal('manage')
  return (
    <>
      <Action label="Role" title={`Role of ${member.email}`} refusal={refusal}>
        {(dialog) => <RoleForm member={member} {...dialog} />}
      </Action>
      <Action
        label="Password link"
        title={`Password of ${member.email}`}
        showsSecret
        refusal={refusal}
      >
        {(dialog) => <LinkForm member={member} {...dialog} />}
      </Action>
      <Action label="Remove" title={`Remove ${member.email}`} refusal={refusal}>
        {(dialog) => <RemoveForm member={member} {...dialog} />}
      </Action>
    </>
  )
}

function RoleForm({ member, idempotencyKey, close }: Props & Dialog): ReactElement {
  const { hooks } = useApi()
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
      <RoleSelect role={role} onChange={setRole} />
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

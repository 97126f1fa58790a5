import { notifications } from '@mantine/notifications'

/** Says that a change was made. Only the response of the API shows that it was. */
export function showChanged(message: string): void {
  notifications.show({ message, color: 'teal', autoClose: 5_000 })
}

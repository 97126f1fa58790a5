export { commitAndPublish as commit } from '@tollgate/domain/publications/commit-and-publish'

// Every method of the storage clients of nhost, unchanged from npm, against a
// running service. Usage: node clients.mjs URL ADMIN_SECRET TOKEN
import assert from 'node:assert/strict'
import { HasuraStorageClient } from '@nhost/hasura-storage-js'
import { createAPIClient } from '@nhost/nhost-js/storage'

const [url, adminSecret, token] = process.argv.slice(2)
const picture = Uint8Array.from(
  atob(
    'iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAFklEQVR4nGP8z8DAwMDAxMDAwMDAAAANHQEDasKb6QAAAABJRU5ErkJggg=='
  ),
  (c) => c.charCodeAt(0)
)
const ids = ['aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa', 'bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbbb']

async function former() {
  const storage = new HasuraStorageClient({ url })
  storage.setAccessToken(token)

  const file = new File(['hello'], 'ä hello.txt', { type: 'text/plain' })
  const up = await storage.upload({ file, id: ids[0], name: 'named.txt', bucketId: 'default' })
  assert.equal(up.error, null)
  assert.equal(up.fileMetadata.id, ids[0])
  assert.equal(up.fileMetadata.name, 'named.txt')
  assert.equal(up.fileMetadata.size, 5)
  assert.equal(up.fileMetadata.isUploaded, true)

  const formData = new FormData()
  formData.append('file[]', new File([picture], 'a.png', { type: 'image/png' }))
  formData.append('file[]', new File(['b'], 'b.txt'))
  const many = await storage.upload({ formData, bucketId: 'default' })
  assert.equal(many.error, null)
  assert.deepEqual(many.fileMetadata.processedFiles.map((f) => f.name), ['a.png', 'b.txt'])

  const down = await storage.download({ fileId: ids[0] })
  assert.equal(down.error, null)
  assert.equal(await down.file.text(), 'hello')

  const thumb = await storage.download({ fileId: many.fileMetadata.processedFiles[0].id, width: 1, height: 1, quality: 50, blur: 1 })
  assert.equal(thumb.error, null)
  assert.equal(thumb.file.type, 'image/png')

  const link = await storage.getPresignedUrl({ fileId: ids[0] })
  assert.equal(link.error, null)
  assert.equal(link.presignedUrl.expiration, 30)
  assert.equal(await (await fetch(link.presignedUrl.url)).text(), 'hello')
  const smaller = await storage.getPresignedUrl({ fileId: many.fileMetadata.processedFiles[0].id, width: 1 })
  assert.equal((await fetch(smaller.presignedUrl.url)).status, 200)

  assert.equal((await fetch(storage.getPublicUrl({ fileId: ids[0] }))).status, 404)

  const anonymous = new HasuraStorageClient({ url })
  const refused = await anonymous.upload({ file })
  assert.equal(refused.error.status, 403)
  assert.equal(refused.error.message, 'you are not authorized')

  storage.setHeaders({ 'x-hasura-role': 'editor' })
  assert.ok((await storage.download({ fileId: ids[0] })).error)
  storage.unsetHeaders()
  assert.ok((await storage.delete({ fileId: ids[0] })).error, 'unsetHeaders keeps the role')

  const admin = new HasuraStorageClient({ url, adminSecret }).setAdminSecret(adminSecret)
  assert.equal((await admin.delete({ fileId: ids[0] })).error, null)
  assert.ok((await admin.delete({ fileId: ids[0] })).error)
}

async function present() {
  const withHeaders = (headers) => (next) => (u, options = {}) => next(u, { ...options, headers: { ...options.headers, ...headers } })
  const storage = createAPIClient(url, [withHeaders({ Authorization: `Bearer ${token}` })])
  const admin = createAPIClient(url, [withHeaders({ 'X-Hasura-Admin-Secret': adminSecret })])

  const up = await storage.uploadFiles({
    'bucket-id': 'default',
    'metadata[]': [{ id: ids[1], name: 'picture.png', metadata: { alt: 'four' } }, { name: 'text.txt' }],
    'file[]': [new File([picture], 'x.png'), new File(['text'], 'y.txt')]
  })
  assert.equal(up.status, 201)
  const [first, second] = up.body.processedFiles
  assert.equal(first.id, ids[1])
  assert.equal(first.mimeType, 'image/png')
  assert.deepEqual(first.metadata, { alt: 'four' })

  const whole = await storage.getFile(ids[1])
  assert.deepEqual(new Uint8Array(await whole.body.arrayBuffer()), picture)
  const made = await storage.getFile(ids[1], { w: 1, h: 1, q: 80, b: 0.5, f: 'webp' })
  assert.equal(made.headers.get('content-type'), 'image/webp')
  await assert.rejects(storage.getFile(ids[1], {}, { headers: { 'If-None-Match': first.etag } }), (e) => e.status === 304)
  const some = await storage.getFile(ids[1], {}, { headers: { Range: 'bytes=0-3' } })
  assert.equal(some.status, 206)

  const head = await storage.getFileMetadataHeaders(ids[1])
  assert.equal(head.headers.get('etag'), first.etag)
  assert.equal(head.headers.get('content-length'), String(picture.length))

  const replaced = await storage.replaceFile(second.id, { file: new File(['other'], 'z.txt'), metadata: { name: 'other.txt', metadata: { n: 2 } } })
  assert.equal(replaced.status, 200)
  assert.equal(replaced.body.name, 'other.txt')
  assert.equal(replaced.body.size, 5)
  const plain = await storage.replaceFile(second.id, { file: new File(['plain'], 'z.txt') })
  assert.equal(plain.body.name, 'other.txt')

  const link = await storage.getFilePresignedURL(ids[1])
  assert.equal((await fetch(link.body.url)).status, 200)

  assert.deepEqual((await admin.listOrphanedFiles()).body.files, [])
  assert.deepEqual((await admin.deleteOrphanedFiles()).body.files, [])
  assert.deepEqual((await admin.listBrokenMetadata()).body.metadata, [])
  assert.deepEqual((await admin.deleteBrokenMetadata()).body.metadata, [])
  assert.deepEqual((await admin.listFilesNotUploaded()).body.metadata, [])
  await assert.rejects(storage.listOrphanedFiles(), (e) => e.status === 403 && e.body.error.message === 'you are not authorized')
  assert.ok((await storage.getVersion()).body.buildVersion)

  assert.equal((await storage.deleteFile(ids[1])).status, 204)
  await assert.rejects(storage.getFile(ids[1]), (e) => e.status === 404 && e.body.error.message === 'file not found')
  await assert.rejects(storage.uploadFiles({ 'file[]': [] }), (e) => e.status === 400)
}

await former()
await present()

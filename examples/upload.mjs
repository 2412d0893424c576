// Uploads a file through Hasura's actions, with nothing but fetch. In a browser
// import { upload }; on the command line:
//
//   node examples/upload.mjs http://127.0.0.1:8080/v1/graphql TOKEN FILE [MIME-TYPE]

const ticketFields = 'uploadId fileId method url headers { name value } partSize parts { partNumber url size headers { name value } }'

const create = `mutation ($name: String!, $size: bigint!, $mimeType: String) {
  storageCreateUpload(name: $name, size: $size, mimeType: $mimeType) { ${ticketFields} } }`

const missing = `mutation ($uploadId: uuid!) {
  storageUploadParts(uploadId: $uploadId) { missing { partNumber url size headers { name value } } } }`

const complete = `mutation ($uploadId: uuid!) {
  storageCompleteUpload(uploadId: $uploadId) { id name size mimeType } }`

/**
 * upload sends a Blob and returns the file's row.
 * ask(query, variables) resolves to the data of a GraphQL answer, or throws an
 * error whose code is the answer's extensions.code.
 */
export async function upload(ask, blob, name, mimeType = blob.type || null) {
  const { storageCreateUpload: ticket } = await ask(create, { name, size: blob.size, mimeType })
  if (ticket.method === 'PUT') await again(() => put(ticket, blob))
  else await sendParts(ask, ticket, blob)
  for (;;) {
    try {
      return (await ask(complete, { uploadId: ticket.uploadId })).storageCompleteUpload
    } catch (error) {
      if (error.code !== 'upload-completing') throw error // else it is still being copied or scanned
    }
  }
}

// sendParts sends what is missing until nothing is: the service signs some
// parts at a time.
async function sendParts(ask, { uploadId, partSize, parts }, blob) {
  while (parts.length > 0) {
    const queue = [...parts]
    const worker = async () => {
      for (let part = queue.shift(); part; part = queue.shift()) {
        const from = (part.partNumber - 1) * partSize
        const sent = part
        await again(() => put(sent, blob.slice(from, from + sent.size)))
      }
    }
    await Promise.all([worker(), worker(), worker()])
    parts = (await ask(missing, { uploadId })).storageUploadParts.missing
  }
}

async function put({ url, headers }, body) {
  const answer = await fetch(url, { method: 'PUT', body, headers: headers.map(({ name, value }) => [name, value]) })
  if (!answer.ok) throw new Error(`the store answered ${answer.status}: ${await answer.text()}`)
}

// again tries three times, a second and two seconds apart.
async function again(work) {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (attempt === 3) throw error
      await new Promise((resolve) => setTimeout(resolve, 1000 * attempt))
    }
  }
}

/** hasura returns an ask for upload. */
export function hasura(endpoint, token) {
  return async (query, variables) => {
    const answer = await fetch(endpoint, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify({ query, variables }),
    })
    const { data, errors } = await answer.json()
    if (errors) throw Object.assign(new Error(errors[0].message), { code: errors[0].extensions?.code })
    return data
  }
}

if (globalThis.process?.argv[1]?.endsWith('upload.mjs')) {
  const [endpoint, token, path, mimeType] = process.argv.slice(2)
  const { openAsBlob } = await import('node:fs')
  const { basename } = await import('node:path')
  const file = await upload(hasura(endpoint, token), await openAsBlob(path), basename(path), mimeType)
  console.log(JSON.stringify(file))
}

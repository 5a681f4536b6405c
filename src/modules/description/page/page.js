// Runs in the browser, after the viewer's own script.
window.SwaggerUIBundle({
  url: '/api/v1/openapi.json',
  dom_id: '#description',
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  defaultModelExpandDepth: 3,
  defaultModelRendering: 'example',
  displayOperationId: false,
  displayRequestDuration: true,
  filter: false,
  persistAuthorization: false,
  requestSnippetsEnabled: true,
  tryItOutEnabled: false,
  // Both would ask another host.
  validatorUrl: null,
  queryConfigEnabled: false,
  syntaxHighlight: { theme: 'agate' },
})

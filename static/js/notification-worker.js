/* notification-worker: shows what a push message says, and opens the request that it is about. It fetches nothing. */
self.addEventListener("push", event => {
  let told = {};
  try { told = event.data.json(); } catch { return; }
  const path = String(told.path || "/").startsWith("/") ? String(told.path || "/") : "/";
  event.waitUntil(self.registration.showNotification(String(told.title || "OpenClaw Admin"), {
    body: String(told.body || ""), tag: String(told.tag || ""), requireInteraction: true, data: { path }
  }));
});
self.addEventListener("notificationclick", event => {
  event.notification.close();
  const url = new URL(event.notification.data.path, self.location.origin);
  if (url.origin === self.location.origin) event.waitUntil(self.clients.openWindow(url.href));
});

//! A declaration that says the type of a field and its first value in one place.

/// Declares a structure with the value of each field, and a constant that has these values.
#[macro_export]
macro_rules! with_constant {
    ($(#[$about:meta])+ $seen:vis struct $name:ident {
        $($(#[$doc:meta])* $shown:vis $field:ident: $type:ty = $value:expr,)+
    } $(#[$of:meta])+ $public:vis const $constant:ident;) => {
        $(#[$about])+
        $seen struct $name {
            $($(#[$doc])* $shown $field: $type,)+
        }

        impl $name {
            $(#[$of])+
            $public const $constant: $name = $name { $($field: $value,)+ };
        }
    };
}
